// How a command that changes a home speaks to the daemon that holds it.
//
// State has one writer: the holder of the home's lock. A command that finds the lock free becomes the holder for a moment.
// Otherwise it publishes an empty file in `requests/` whose name is the request, and waits for one whose name is the answer.
//
//     <nonce>.<verb>.<subject>.request        by the command, under 16 hexadecimal digits of its own
//     <nonce>.<answer>.answer                 by the holder, who unlinks the request after it
//
// A holder that is killed in between leaves the request, and the next one carries it out: every verb can be carried out
// twice. A command that is killed leaves an answer, which the next start sweeps.

/// What a command asks the holder of a home for.
package struct Request: Hashable, Comparable, Sendable {
    package enum Verb: String, Hashable, Sendable, CaseIterable {
        /// Phone: never ingest this id.
        case veto
        /// Phone: the user deletes this note.
        case delete
        /// Watch: take this transfer back.
        case cancel
        /// Phone: hand a quarantined delivery over once more, or throw it away.
        case retry, drop
    }

    package let nonce: UInt64
    package let verb: Verb
    /// An id, or the number of a quarantine item.
    package let subject: String

    /// `nil` when the subject is not 1 to 64 letters, digits and dashes.
    package init?(nonce: UInt64, verb: Verb, subject: String) {
        guard (1...64).contains(subject.utf8.count),
            subject.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        self.nonce = nonce
        self.verb = verb
        self.subject = subject
    }

    package init?(_ name: FileName) {
        let fields = name.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count == 4, fields[3].elementsEqual("request".utf8), fields[0].count == 16,
            let nonce = UInt64(lowerHex: fields[0]),
            let verb = Verb(rawValue: String(decoding: fields[1], as: UTF8.self))
        else { return nil }
        self.init(nonce: nonce, verb: verb, subject: String(decoding: fields[2], as: UTF8.self))
    }

    package var fileName: FileName {
        guard let name = FileName("\(nonce.hex(digits: 16)).\(verb.rawValue).\(subject).request") else {
            preconditionFailure("a request is a file name: \(subject)")
        }
        return name
    }

    package static func < (left: Request, right: Request) -> Bool { left.fileName < right.fileName }
}

/// What came of a request.
package enum Answer: String, Hashable, Sendable, CaseIterable {
    case done
    /// It was so already.
    case already
    /// A veto of what is ingested, a delete of what is not.
    case refused
    /// Nothing of that name is known here.
    case unknown
    /// The disk did not let it; the holder's talk says why. It may be tried again.
    case failed

    package func fileName(for nonce: UInt64) -> FileName {
        guard let name = FileName("\(nonce.hex(digits: 16)).\(rawValue).answer") else {
            preconditionFailure("an answer is a file name: \(rawValue)")
        }
        return name
    }
}

/// The `requests/` directory, from either end.
package struct RequestBox: ~Copyable {
    package let directory: OpenDirectory
    private let fileSystem: any FileSystem

    /// The most requests that a holder takes up at one look.
    private static let mostAtOnce = 256

    package init(directory: consuming OpenDirectory, fileSystem: any FileSystem) {
        self.directory = directory
        self.fileSystem = fileSystem
    }

    /// A command's: publishes a request. Not synced; when the power fails, the command never heard an answer.
    ///
    /// By a rename, as everything that somebody waits for: that is what the kernel's news tells of. A file that is merely
    /// created would be met at the holder's next full look, long after the command gave up.
    package func ask(_ request: Request) throws(FileSystemError) {
        let name = request.fileName
        let temporary = try fileSystem.createTemporary(for: name, in: directory)
        do throws(FileSystemError) {
            try fileSystem.publish(name.partial, in: directory, as: name, in: directory)
        } catch {
            _ = try? fileSystem.unlinkIfThere(name.partial, in: directory)
            throw error
        }
        _ = consume temporary
    }

    /// A command's: the answer, if it is there, which is then taken away.
    package func answer(to request: Request) throws(FileSystemError) -> Answer? {
        for answer in Answer.allCases where try fileSystem.exists(answer.fileName(for: request.nonce), in: directory) {
            try fileSystem.unlinkIfThere(answer.fileName(for: request.nonce), in: directory)
            return answer
        }
        return nil
    }

    /// A command's, when it gives up: nobody shall carry it out later behind its back. `false` when the holder has it.
    package func withdraw(_ request: Request) throws(FileSystemError) -> Bool {
        try fileSystem.unlinkIfThere(request.fileName, in: directory)
    }

    /// The holder's: what is asked for, oldest name first.
    package func pending() throws(FileSystemError) -> [Request] {
        var found: [Request] = []
        try fileSystem.forEachName(in: directory) { name in
            if let request = Request(name) { found.append(request) }
            return found.count < Self.mostAtOnce
        }
        return found.sorted()
    }

    /// The holder's: answers, then takes the request away.
    package func answer(_ request: Request, _ answer: Answer) throws(FileSystemError) {
        do {
            _ = try fileSystem.create(answer.fileName(for: request.nonce), in: directory)
        } catch  where error.reason == .exists {
            // Answered by a holder that died before it took the request away.
        }
        try fileSystem.unlinkIfThere(request.fileName, in: directory)
    }

    /// The holder's, at its start: answers that nobody waits for any more, and what a killed command left half asked.
    package func sweepAnswers() throws(FileSystemError) {
        _ = try fileSystem.sweepTemporaries(in: directory)
        var names: [FileName] = []
        try fileSystem.forEachName(in: directory) { name in
            if name.hasSuffix(".answer") { names.append(name) }
            return names.count < 4_096
        }
        for name in names.sorted() { try fileSystem.unlinkIfThere(name, in: directory) }
    }
}
