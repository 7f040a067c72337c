import Spooling
import WireContract

/// A delivery that the phone has taken: where it lies, what its seal said, and what is open of it.
final class StagedFile {
    enum Place: Hashable {
        /// In the inbox, under the name that it was taken by.
        case inbox(FileName)
        case staging
    }

    let name: StagedName
    var place: Place
    let content: NoteContent
    /// Exactly as it came. Empty once it waits for a later build: that one reads it anew.
    private(set) var dictionaryBytes: [UInt8]
    /// Dictionary and seal are cut off, and a barrier of this process covered that and the row that says what is left.
    var isCut: Bool
    /// Whether a later sync may say that its bytes are durable though nobody writes them any more: a barrier failed since it was
    /// written, here or, for all that is known, in a process before (the kernel marks failed pages clean). Then it is written
    /// anew before it is ingested.
    var mayBeUnwritable = false
    /// Open while the delivery is on its way; a thousand that wait hold no descriptors.
    private var box: FileBox?

    init(
        name: StagedName, place: Place, content: NoteContent, dictionaryBytes: [UInt8], isCut: Bool, box: FileBox?
    ) {
        self.name = name
        self.place = place
        self.content = content
        self.dictionaryBytes = dictionaryBytes
        self.isCut = isCut
        self.box = box
    }

    /// The open file, opened anew if it was let go.
    func file(
        in staging: borrowing OpenDirectory, of fileSystem: any FileSystem
    ) throws(FileSystemError) -> FileBox {
        if let box { return box }
        let opened = FileBox(try fileSystem.openOurs(name.fileName, in: staging).intoFile())
        box = opened
        return opened
    }

    /// The same bytes are in another file now.
    func isNow(_ box: FileBox) {
        self.box = box
        mayBeUnwritable = false
    }

    /// Closes it and forgets the dictionary: it waits.
    func letGo() {
        box = nil
        dictionaryBytes = []
    }

    /// Closes it for now: its turn comes again.
    func close() {
        box = nil
    }
}

extension NoteContent {
    init(_ seal: Seal) {
        self.init(byteCount: seal.bodyByteCount, checksums: seal.bodyChecksums, fileExtension: seal.fileExtension)
    }

    /// The bytes are the same; what the file is called does not matter.
    func hasSameBytes(as other: NoteContent) -> Bool {
        byteCount == other.byteCount && checksums == other.checksums
    }
}
