/// What WatchConnectivity lets a queued transfer carry.
package enum TransferLimit {
    /// A dictionary of more bytes than this, as a binary property list, fails with `payloadTooLarge`.
    package static let dictionaryByteCount = 65_536

    /// The dictionary as the binary property list that a transfer carries, or the error with which the transfer fails.
    ///
    /// `payloadTooLarge` over 65,536 bytes. `invalidParameter` for what no reader of the pair would take although it is
    /// small: nesting deeper than 32, or shared strings that are many times the list's size when written out.
    package static func encode(_ dictionary: PropertyListDictionary) throws(TransferError) -> [UInt8] {
        do {
            return try BinaryPropertyList.encode(.dictionary(dictionary))
        } catch {
            switch error {
            case .tooLarge: throw .payloadTooLarge
            case .tooDeep, .tooManyObjects, .tooManyValues, .tooManyContentBytes: throw oversize(dictionary)
            case .notBinary, .malformed, .unsupported, .duplicateKey: throw .invalidParameter
            }
        }
    }

    /// Which of the two: a dictionary that breaks another bound may be over 65,536 bytes as well, and then that is its error.
    private static func oversize(_ dictionary: PropertyListDictionary) -> TransferError {
        var limits = BinaryPropertyList.Limits.spool
        limits.objectCount = .max
        limits.valueCount = .max
        limits.contentByteCount = .max
        do {
            _ = try BinaryPropertyList.encode(.dictionary(dictionary), limits: limits)
            return .invalidParameter
        } catch {
            if case .tooLarge = error { return .payloadTooLarge }
            return .invalidParameter
        }
    }
}

/// What can go wrong with a session or a transfer, with the numbers of `WCError.Code`.
///
/// Source of names and meanings: https://developer.apple.com/documentation/watchconnectivity/wcerror/code; of the numbers,
/// which that page leaves out: `WCError.h` of the SDK, as listed by
/// https://learn.microsoft.com/dotnet/api/watchconnectivity.wcerrorcode. The pair itself reports 7008 to 7010 and 7013 to
/// 7017; the others are here so that a report can name any number.
package enum TransferError: Int, Error, Hashable, Sendable, CaseIterable {
    /// An unknown problem.
    case genericError = 7001
    /// The device has no sessions.
    case sessionNotSupported = 7002
    /// The session has no delegate that could take events.
    case sessionMissingDelegate = 7003
    /// The session was never activated.
    case sessionNotActivated = 7004
    /// The phone has no paired watch.
    case deviceNotPaired = 7005
    /// The watch app is not installed.
    case watchAppNotInstalled = 7006
    /// The counterpart cannot be reached now. Only interactive messages care.
    case notReachable = 7007
    /// A parameter is invalid.
    case invalidParameter = 7008
    /// The dictionary has more than 65,536 bytes as a binary property list.
    case payloadTooLarge = 7009
    /// The dictionary holds something that is no property-list type.
    case payloadUnsupportedTypes = 7010
    /// A reply could not be sent.
    case messageReplyFailed = 7011
    /// A reply did not come in time.
    case messageReplyTimedOut = 7012
    /// The file cannot be read.
    case fileAccessDenied = 7013
    /// The transfer could not be delivered.
    case deliveryFailed = 7014
    /// The receiver has no space for the file.
    case insufficientSpace = 7015
    /// The session is inactive, for instance while a phone changes over to another watch.
    case sessionInactive = 7016
    /// The transfer took too long.
    case transferTimedOut = 7017
}

extension TransferError: CustomStringConvertible {
    /// The name of the case and its number, for instance `payloadTooLarge (7009)`.
    package var description: String { "\(name) (\(rawValue))" }

    private var name: String {
        switch self {
        case .genericError: "genericError"
        case .sessionNotSupported: "sessionNotSupported"
        case .sessionMissingDelegate: "sessionMissingDelegate"
        case .sessionNotActivated: "sessionNotActivated"
        case .deviceNotPaired: "deviceNotPaired"
        case .watchAppNotInstalled: "watchAppNotInstalled"
        case .notReachable: "notReachable"
        case .invalidParameter: "invalidParameter"
        case .payloadTooLarge: "payloadTooLarge"
        case .payloadUnsupportedTypes: "payloadUnsupportedTypes"
        case .messageReplyFailed: "messageReplyFailed"
        case .messageReplyTimedOut: "messageReplyTimedOut"
        case .fileAccessDenied: "fileAccessDenied"
        case .deliveryFailed: "deliveryFailed"
        case .insufficientSpace: "insufficientSpace"
        case .sessionInactive: "sessionInactive"
        case .transferTimedOut: "transferTimedOut"
        }
    }
}
