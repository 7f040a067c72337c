// Between `[String: Any]`, which an app and WatchConnectivity speak, and property-list values. The only file that asks a
// value of type Any what it is.
//
// The question has traps. A number that went through a property list is an NSNumber, and NSNumber 1 casts to Bool, Int and
// Double alike; on Apple's systems a plain `true` casts to Int as well. So Swift's own types are compared exactly, without
// a cast, and an NSNumber is asked for the kind of its storage.

import Foundation

extension PropertyListDictionary {
    /// The whole dictionary. Throws `payloadUnsupportedTypes` when anything in it is of no property-list type, and
    /// `invalidParameter` when it is nested deeper than a transfer of the pair can be. Entries come sorted by key.
    package init(bridging dictionary: [String: Any]) throws(TransferError) {
        self = try propertyListDictionary(dictionary.map { ($0.key, $0.value) }, depth: 1)
    }

    /// Only the entries with these keys, in this order. One whose value is of no property-list type is left out: such a
    /// value cannot have come through a transfer, and the reader treats it like one that is not there.
    init(bridging dictionary: [String: Any], keys: [String]) {
        self.init()
        for key in keys {
            guard let any = dictionary[key] else { continue }
            self[key] = try? propertyListValue(any, depth: 1)
        }
    }
}

/// The dictionary with Foundation's types: `Int`, `UInt64`, `Double`, `Bool`, `String`, `Date`, `Data`, arrays, dictionaries.
package func foundationDictionary(of dictionary: PropertyListDictionary) -> [String: Any] {
    var result: [String: Any] = [:]
    // Two keys that differ only in how an accent is composed are one key to Swift: the first stays.
    for entry in dictionary.entries where result[entry.key] == nil {
        result[entry.key] = foundationValue(of: entry.value)
    }
    return result
}

/// The value with Foundation's types.
package func foundationValue(of value: PropertyListValue) -> Any {
    switch value {
    case .string(let string): string
    case .integer(let number): Int(exactly: number) ?? number
    case .unsigned(let number): number
    case .real(let number): number
    case .boolean(let flag): flag
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .array(let values): values.map { foundationValue(of: $0) }
    case .dictionary(let dictionary): foundationDictionary(of: dictionary)
    }
}

/// A value of Swift's or Foundation's as a property-list value of exactly its kind. `depth` counts the containers around it.
private func propertyListValue(_ any: Any, depth: Int) throws(TransferError) -> PropertyListValue {
    if let number = swiftNumber(any) { return number }
    switch any {
    case let number as NSNumber where type(of: any) is NSNumber.Type: return propertyListNumber(number)
    case let string as String: return .string(string)
    case let date as Date: return .date(secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    case let data as Data: return .data([UInt8](data))
    case let array as [Any]:
        try checkDepth(depth + 1)
        var values: [PropertyListValue] = []
        for element in array { values.append(try propertyListValue(element, depth: depth + 1)) }
        return .array(values)
    // Before [String: Any]: casting to that would take two spellings of one accent for one key, and stop the process.
    case let dictionary as NSDictionary:
        var entries: [(String, Any)] = []
        for (key, value) in dictionary {
            guard let key = key as? String else { throw .payloadUnsupportedTypes }
            entries.append((key, value))
        }
        return .dictionary(try propertyListDictionary(entries, depth: depth + 1))
    case let dictionary as [String: Any]:
        return .dictionary(try propertyListDictionary(dictionary.map { ($0.key, $0.value) }, depth: depth + 1))
    default: throw .payloadUnsupportedTypes
    }
}

private func propertyListDictionary(
    _ pairs: [(String, Any)], depth: Int
) throws(TransferError) -> PropertyListDictionary {
    try checkDepth(depth)
    var entries: [PropertyListDictionary.Entry] = []
    for (key, value) in pairs {
        entries.append(PropertyListDictionary.Entry(key: key, value: try propertyListValue(value, depth: depth)))
    }
    // The dictionary they come from has no order that may show.
    entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    do {
        return try PropertyListDictionary(entries)
    } catch {
        // Two keys of an NSDictionary that are one string: no dictionary that a property list could hold.
        throw .invalidParameter
    }
}

private func checkDepth(_ depth: Int) throws(TransferError) {
    guard depth <= BinaryPropertyList.Limits.spool.depth else { throw .invalidParameter }
}

/// The value if it is one of Swift's own numbers or its Bool, by exact type.
private func swiftNumber(_ any: Any) -> PropertyListValue? {
    let kind = type(of: any)
    if kind == Bool.self { return (any as? Bool).map { .boolean($0) } }
    if kind == Double.self { return (any as? Double).map { .real($0) } }
    if kind == Float.self { return (any as? Float).map { .real(Double($0)) } }
    if kind == CGFloat.self { return (any as? CGFloat).map { .real(Double($0)) } }
    // Integers of every width. NSNumber is no BinaryInteger, so nothing else answers to this.
    guard let integer = any as? any BinaryInteger else { return nil }
    if let signed = Int64(exactly: integer) { return .integer(signed) }
    return UInt64(exactly: integer).map { .unsigned($0) }
}

/// An NSNumber by the kind of its storage.
private func propertyListNumber(_ number: NSNumber) -> PropertyListValue {
    if isBoolean(number) { return .boolean(number.boolValue) }
    // The encodings of Foundation's reals; everything else that an NSNumber stores is an integer.
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "f"), UInt8(ascii: "d"): return .real(number.doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"):
        return Int64(exactly: number.uint64Value).map { .integer($0) } ?? .unsigned(number.uint64Value)
    default: return .integer(number.int64Value)
    }
}
