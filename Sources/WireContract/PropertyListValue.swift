/// A value of a property list, with its exact kind: the boolean true is not the integer 1, and 1.0 is neither.
///
/// Equality and hashes are about what is stored: a real or a date equals another when the bits are the same (so NaN
/// equals itself, and -0.0 is not 0.0), a string when its UTF-8 is the same (Swift's own `==` takes the two spellings of
/// `é` for one). Otherwise a value could change on its way through the codec without a comparison seeing it.
package enum PropertyListValue: Sendable {
    case string(String)
    case integer(Int64)
    /// Only numbers above `Int64.max`; everything else is an `integer`.
    case unsigned(UInt64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01T00:00:00Z, which is how a binary property list stores an instant.
    case date(secondsSinceReferenceDate: Double)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary(PropertyListDictionary)
}

extension PropertyListValue: Hashable {
    package static func == (left: PropertyListValue, right: PropertyListValue) -> Bool {
        switch (left, right) {
        case (.string(let a), .string(let b)): a.hasSameUTF8(as: b)
        case (.integer(let a), .integer(let b)): a == b
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
        case (.boolean(let a), .boolean(let b)): a == b
        case (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
        case (.data(let a), .data(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.dictionary(let a), .dictionary(let b)): a == b
        case (.string, _), (.integer, _), (.unsigned, _), (.real, _), (.boolean, _): false
        case (.date, _), (.data, _), (.array, _), (.dictionary, _): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let string):
            hasher.combine(0 as UInt8)
            hasher.combine(ExactString(string))
        case .integer(let number):
            hasher.combine(1 as UInt8)
            hasher.combine(number)
        case .unsigned(let number):
            hasher.combine(2 as UInt8)
            hasher.combine(number)
        case .real(let number):
            hasher.combine(3 as UInt8)
            hasher.combine(number.bitPattern)
        case .boolean(let flag):
            hasher.combine(4 as UInt8)
            hasher.combine(flag)
        case .date(let seconds):
            hasher.combine(5 as UInt8)
            hasher.combine(seconds.bitPattern)
        case .data(let bytes):
            hasher.combine(6 as UInt8)
            hasher.combine(bytes)
        case .array(let values):
            hasher.combine(7 as UInt8)
            hasher.combine(values)
        case .dictionary(let dictionary):
            hasher.combine(8 as UInt8)
            hasher.combine(dictionary)
        }
    }
}

extension String {
    /// Swift's own `==` takes the two spellings of `é` for one.
    func hasSameUTF8(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

/// A string that equals another only when the UTF-8 is the same.
struct ExactString: Hashable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.hasSameUTF8(as: right.string)
    }

    func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

/// A dictionary of a property list: entries in the order in which they were read or put in, no key twice.
///
/// Two dictionaries are equal when they have the same entries in the same order. The codec writes entries sorted by their
/// keys' UTF-8 and reads them in the order of the list, so what was read may equal what was written only after `sorted()`.
package struct PropertyListDictionary: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let key: String
        package var value: PropertyListValue

        package init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.key.hasSameUTF8(as: right.key) && left.value == right.value
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(ExactString(key))
            hasher.combine(value)
        }
    }

    package private(set) var entries: [Entry]

    package init() {
        entries = []
    }

    /// Takes the entries in their order. Throws `duplicateKey` when a key is there twice.
    package init(_ entries: [Entry]) throws(PropertyListError) {
        if entries.count <= 16 {
            // As every dictionary of the contract: to compare all is cheaper than to hash them.
            for (index, entry) in entries.enumerated() {
                for other in entries[..<index] where other.key.hasSameUTF8(as: entry.key) {
                    throw .duplicateKey(entry.key)
                }
            }
        } else {
            // Membership only; the order of the set never shows.
            var seen: Set<ExactString> = Set(minimumCapacity: entries.count)
            for entry in entries where !seen.insert(ExactString(entry.key)).inserted {
                throw .duplicateKey(entry.key)
            }
        }
        self.entries = entries
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }

    /// The value for `key`, found by the exact UTF-8 of the key; linear. A new key goes to the end; nil removes.
    package subscript(key: String) -> PropertyListValue? {
        get {
            index(of: key).map { entries[$0].value }
        }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The same entries in the order in which the codec writes them, inside every nested dictionary too.
    package func sorted() -> PropertyListDictionary {
        var copy = self
        copy.entries = entries.map { Entry(key: $0.key, value: $0.value.sorted()) }
        copy.entries.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return copy
    }

    private func index(of key: String) -> Int? {
        entries.firstIndex { $0.key.hasSameUTF8(as: key) }
    }
}

extension PropertyListValue {
    /// The same value with every dictionary's entries in the order in which the codec writes them.
    package func sorted() -> PropertyListValue {
        switch self {
        case .array(let values): .array(values.map { $0.sorted() })
        case .dictionary(let dictionary): .dictionary(dictionary.sorted())
        case .string, .integer, .unsigned, .real, .boolean, .date, .data: self
        }
    }
}
