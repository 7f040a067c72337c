package import Spooling

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How a command that changes a home gets it done: through the daemon that holds the home, or as its holder for a moment
/// when there is none.
package struct RequestClient {
    package enum Failure: Error {
        case folder(FolderError)
        /// The holder did not answer in time; the request was taken back.
        case noAnswer(holder: String)
        /// Nor could it be taken back: the holder has it, and may carry it out.
        case unknownOutcome(holder: String)
    }

    private static let answerPatience = Duration.seconds(5)
    private static let lookInterval: UInt32 = 10_000

    private let fileSystem: any FileSystem
    private let kind: FolderKind
    private let homePath: String

    package init(kind: FolderKind, homePath: String, fileSystem: any FileSystem) {
        self.kind = kind
        self.homePath = homePath
        self.fileSystem = fileSystem
    }

    /// Carries out `requests`, one answer each, in order. `asHolder` opens the home as its holder and carries them out
    /// itself; it throws `held` when somebody else is.
    package func perform(
        _ requests: [Request], asHolder: ([Request]) throws(FolderError) -> [Answer]
    ) throws(Failure) -> [Answer] {
        do throws(FolderError) {
            return try asHolder(requests)
        } catch {
            guard case .held(_, let holder) = error else { throw .folder(error) }
            return try ask(requests, holder: holder)
        }
    }

    private func ask(_ requests: [Request], holder: String) throws(Failure) -> [Answer] {
        do {
            let home = try fileSystem.openFolder(kind, at: homePath, create: false, nonce: 0)
            let directory = try fileSystem.openOurDirectory("requests", in: home, create: true)
            let box = RequestBox(directory: directory, fileSystem: fileSystem)
            var answers: [Answer] = []
            for request in requests {
                // One after the other, so that they are carried out in the order in which they were given.
                try box.ask(request)
                answers.append(try wait(for: request, in: box, holder: holder))
            }
            return answers
        } catch let error as Failure {
            throw error
        } catch let error as FolderError {
            throw .folder(error)
        } catch let error as FileSystemError {
            throw .folder(.disk(error))
        } catch {
            preconditionFailure("only three kinds of errors are thrown above: \(error)")
        }
    }

    private func wait(for request: Request, in box: borrowing RequestBox, holder: String) throws -> Answer {
        let clock = MonotonicClock()
        let end = clock.now() + Self.answerPatience
        while clock.now() < end {
            if let answer = try box.answer(to: request) { return answer }
            usleep(Self.lookInterval)
        }
        if try box.withdraw(request) { throw Failure.noAnswer(holder: holder) }
        // Carried out between our last look and the withdrawal.
        if let answer = try box.answer(to: request) { return answer }
        throw Failure.unknownOutcome(holder: holder)
    }
}

extension RequestClient.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .folder(let error): error.description
        case .noAnswer(let holder):
            "\(holder) holds the home and did not answer within 5 s; nothing was done, try again or stop it"
        case .unknownOutcome(let holder):
            "\(holder) took the request and did not answer within 5 s; look at its list before trying again"
        }
    }

    package var exitCode: ExitCode {
        switch self {
        case .folder(let error): ExitCode(error)
        case .noAnswer, .unknownOutcome: .tryAgain
        }
    }
}

extension ExitCode {
    /// What a folder that cannot be used means for a command.
    package init(_ error: FolderError) {
        switch error {
        case .held: self = .tryAgain
        case .newerFormat, .notThatFolder: self = .malformedInput
        case .disk(let error): self.init(error)
        }
    }
}
