package import WireContract

// Every name that the pair gives to a file, and the strict readers of them. A name that does not read back to itself is
// strange: it belongs to nobody here.
//
//     recordings/   <ULID>.note                                        a sealed recording
//     to-phone/     <start>-<counter>-<nonce>-<ULID>-<try>.note        an entry
//     to-watch/     <start>-<counter>-<nonce>-<ULID>-<try>.ack         an ack, and those behind it in its file
//     staging/      <ULID or checksums>-<crc>-<crc>-<pairing>.note     a delivery that the phone has moved out of its inbox
//     anywhere      <name>.part                                        being written; locked by its writer
//
// start, counter: ten decimal digits. nonce: eight, pairing: sixteen hexadecimal digits. try: five decimal digits.
// Byte order of entry names is the order in which they were sent.

/// The number of a start of a daemon: durable and larger than that of every start before, in its home.
package struct StartNumber: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    /// What ten digits hold. At a start a second, that is three centuries.
    package static let largest: UInt64 = 9_999_999_999

    package init?(rawValue: UInt64) {
        guard rawValue <= StartNumber.largest else { return nil }
        self.rawValue = rawValue
    }

    package static func < (left: StartNumber, right: StartNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The name of one transfer in the spool.
package struct EntryName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let kind: EnvelopeKind
    package let start: StartNumber
    package let counter: UInt64
    package let nonce: UInt32
    /// What the sender says that it carries. Only the sender relies on it, for what it sent itself.
    package let id: ULID
    /// Which transfer of this id it is since the sender's start, from 1.
    package let attempt: Int

    package static let largestAttempt = 99_999

    package init(kind: EnvelopeKind, start: StartNumber, counter: UInt64, nonce: UInt32, id: ULID, attempt: Int) {
        self.kind = kind
        self.start = start
        self.counter = counter
        self.nonce = nonce
        self.id = id
        self.attempt = min(attempt, EntryName.largestAttempt)
    }

    /// `nil` for a name that is not exactly what `fileName` writes.
    package init?(_ name: FileName) {
        let kind: EnvelopeKind
        if name.bytes.count == 68, name.hasSuffix(".note") {
            kind = .note
        } else if name.bytes.count == 67, name.hasSuffix(".ack") {
            kind = .ack
        } else {
            return nil
        }
        let read = name.bytes.withUnsafeBufferPointer { bytes -> EntryName? in
            // Fixed columns: 10 - 10 - 8 - 26 - 5 .
            let dash = UInt8(ascii: "-")
            guard bytes[10] == dash, bytes[21] == dash, bytes[30] == dash, bytes[57] == dash,
                let startValue = bytes.decimal(0..<10), let start = StartNumber(rawValue: startValue),
                let counter = bytes.decimal(11..<21), let nonce = bytes.lowerHex(22..<30),
                let id = ULID(utf8: UnsafeBufferPointer(rebasing: bytes[31..<57])), let attempt = bytes.decimal(58..<63)
            else { return nil }
            return EntryName(
                kind: kind, start: start, counter: counter, nonce: UInt32(nonce), id: id, attempt: Int(attempt))
        }
        guard let read else { return nil }
        self = read
    }

    package var fileName: FileName {
        var bytes = kind == .note ? Self.noteForm : Self.ackForm
        bytes.withUnsafeMutableBufferPointer { buffer in
            func field(_ range: Range<Int>) -> UnsafeMutableBufferPointer<UInt8> { .init(rebasing: buffer[range]) }
            field(0..<10).spellDecimal(start.rawValue)
            field(11..<21).spellDecimal(counter)
            field(22..<30).spellHex(UInt64(nonce))
            id.spell(into: field(31..<57))
            field(58..<63).spellDecimal(UInt64(attempt))
        }
        return FileName(trusted: bytes)
    }

    // What stands in every name; the fields are written over it. A transfer's name is made several times on its way.
    private static let noteForm = Array("0000000000-0000000000-00000000-00000000000000000000000000-00000.note".utf8)
    private static let ackForm = Array("0000000000-0000000000-00000000-00000000000000000000000000-00000.ack".utf8)

    /// The transfer of another ack in this one's file: everything is the same but the id.
    package func carrying(_ id: ULID) -> EntryName {
        EntryName(kind: kind, start: start, counter: counter, nonce: nonce, id: id, attempt: attempt)
    }

    /// The order of names in the spool.
    package static func < (left: EntryName, right: EntryName) -> Bool {
        if left.start != right.start { return left.start < right.start }
        if left.counter != right.counter { return left.counter < right.counter }
        if left.nonce != right.nonce { return left.nonce < right.nonce }
        if left.id != right.id { return left.id < right.id }
        return left.attempt < right.attempt
    }

    package var description: String { fileName.description }
}

/// Hands out entry names of one start, each larger than the one before.
package struct EntryNamer: Sendable {
    package let kind: EnvelopeKind
    package let start: StartNumber
    private var counter: UInt64 = 0

    package init(kind: EnvelopeKind, start: StartNumber) {
        self.kind = kind
        self.start = start
    }

    package mutating func next(id: ULID, attempt: Int, nonce: UInt32) -> EntryName {
        counter += 1
        precondition(counter <= StartNumber.largest, "ten thousand million entries in one start: \(counter)")
        return EntryName(kind: kind, start: start, counter: counter, nonce: nonce, id: id, attempt: attempt)
    }
}

extension FileName {
    /// The name of a sealed recording on the watch.
    package static func recording(_ id: ULID) -> FileName {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ULID.utf8Count + 5)
        id.appendUTF8(to: &bytes)
        bytes.append(".note")
        return FileName(trusted: bytes)
    }

    /// The id of a sealed recording on the watch; `nil` for any other name.
    package var recordingID: ULID? {
        guard bytes.count == 31, hasSuffix(".note") else { return nil }
        return ULID(utf8: bytes.prefix(26))
    }

    /// The temporary name under which this file is written.
    package var partial: FileName {
        guard let name = appending(".part") else { preconditionFailure("our names are short: \(self)") }
        return name
    }

    /// Whether it is a temporary of somebody's: whatever ends in `.part`.
    package var isPartial: Bool { hasSuffix(".part") }
}

/// What tells one delivery from another: who it says it is, and what its bytes are. A resend of the same recording has the
/// same key, however often it comes.
package struct DeliveryKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    package enum Identity: Hashable, Sendable {
        case id(ULID)
        /// The dictionary names no canonical ULID.
        case checksums(Checksums)
    }

    package let identity: Identity
    package let bodyCRC32: UInt32
    package let dictionaryCRC32: UInt32

    package init(identity: Identity, bodyCRC32: UInt32, dictionaryCRC32: UInt32) {
        self.identity = identity
        self.bodyCRC32 = bodyCRC32
        self.dictionaryCRC32 = dictionaryCRC32
    }

    package init(id: ULID?, seal: Seal) {
        self.init(
            identity: id.map { .id($0) } ?? .checksums(seal.bodyChecksums), bodyCRC32: seal.bodyChecksums.crc32,
            dictionaryCRC32: seal.dictionaryChecksums.crc32)
    }

    package var id: ULID? {
        switch identity {
        case .id(let id): id
        case .checksums: nil
        }
    }

    package var description: String {
        var bytes: [UInt8] = []
        appendUTF8(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The spelling, as it stands in a name.
    func appendUTF8(to bytes: inout [UInt8]) {
        switch identity {
        case .id(let id): id.appendUTF8(to: &bytes)
        case .checksums(let sums):
            bytes.appendHex(UInt64(sums.crc32), digits: 8)
            bytes.appendHex(UInt64(sums.adler32), digits: 8)
        }
        bytes.append(UInt8(ascii: "-"))
        bytes.appendHex(UInt64(bodyCRC32), digits: 8)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendHex(UInt64(dictionaryCRC32), digits: 8)
    }

    package static func < (left: DeliveryKey, right: DeliveryKey) -> Bool { left.description < right.description }
}

/// The name of a delivery in the phone's staging: its key, and the pairing it came over, so that its ack goes back there.
package struct StagedName: Hashable, Sendable {
    package let key: DeliveryKey
    package let pairing: PairingID

    package init(key: DeliveryKey, pairing: PairingID) {
        self.key = key
        self.pairing = pairing
    }

    package var fileName: FileName {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ULID.utf8Count + 40)
        key.appendUTF8(to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        bytes.appendHex(pairing.rawValue, digits: 16)
        bytes.append(".note")
        return FileName(trusted: bytes)
    }

    package init?(_ name: FileName) {
        guard name.hasSuffix(".note") else { return nil }
        let fields = name.bytes.dropLast(5).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.count == 4, fields[1].count == 8, fields[2].count == 8,
            let bodyCRC32 = UInt32(lowerHex: fields[1]), let dictionaryCRC32 = UInt32(lowerHex: fields[2]),
            let pairing = PairingID(utf8: fields[3])
        else { return nil }
        let identity: DeliveryKey.Identity
        if let id = ULID(utf8: fields[0]) {
            identity = .id(id)
        } else if fields[0].count == 16, let crc32 = UInt32(lowerHex: fields[0].prefix(8)),
            let adler32 = UInt32(lowerHex: fields[0].suffix(8))
        {
            identity = .checksums(Checksums(crc32: crc32, adler32: adler32))
        } else {
            return nil
        }
        key = DeliveryKey(identity: identity, bodyCRC32: bodyCRC32, dictionaryCRC32: dictionaryCRC32)
        self.pairing = pairing
    }
}
