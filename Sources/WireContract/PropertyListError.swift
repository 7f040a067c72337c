/// Why bytes are not a binary property list that this codec reads, or a value not one that it writes.
package enum PropertyListError: Error, Hashable, Sendable {
    /// The list has more bytes than allowed.
    case tooLarge(byteCount: Int, limit: Int)
    /// Containers lie deeper in each other than allowed. A container that contains itself ends here.
    case tooDeep(limit: Int)
    /// The offset table has more objects than allowed.
    case tooManyObjects(limit: Int)
    /// Written out in full, shared references make more values than allowed.
    case tooManyValues(limit: Int)
    /// Written out in full, shared references make more bytes of strings and data than allowed.
    case tooManyContentBytes(limit: Int)
    /// The first bytes are not `bplist00`. XML and other text formats end here.
    case notBinary
    /// The trailer, the offset table or an object contradicts itself or reaches outside of its place.
    case malformed(Malformation, offset: Int)
    /// A kind of object that the contract does not have.
    case unsupported(UnsupportedKind, offset: Int)
    /// A dictionary has this key twice.
    case duplicateKey(String)

    /// What is wrong with the bytes.
    package enum Malformation: String, Hashable, Sendable {
        case truncated = "it is shorter than a header and a trailer"
        case trailer = "the trailer contradicts itself or the length"
        case offset = "an offset points outside of the objects"
        case reference = "a reference names an object that is not there"
        case objectEnd = "an object reaches beyond the objects"
        case count = "a count is no integer or too large"
        case integer = "an integer has an impossible width or does not fit 64 bits"
        case real = "a real has an impossible width"
        case date = "a date has an impossible width"
        case marker = "the marker of an object is unknown"
        case ascii = "an ASCII string has a byte above 127"
        case surrogate = "a UTF-16 string has a lone surrogate"
        case key = "a key is no string"
    }

    /// Objects that a binary property list may hold elsewhere, and that no property-list dictionary of the contract has.
    package enum UnsupportedKind: String, Hashable, Sendable {
        case null, fill, url, uuid, uid, set
    }
}

extension PropertyListError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let byteCount, let limit): "the property list has \(byteCount) bytes, \(limit) are allowed"
        case .tooDeep(let limit): "the property list is nested deeper than \(limit) containers, or contains itself"
        case .tooManyObjects(let limit): "the property list has more than \(limit) objects"
        case .tooManyValues(let limit): "written out in full, the property list has more than \(limit) values"
        case .tooManyContentBytes(let limit):
            "written out in full, the property list has more than \(limit) bytes of strings and data"
        case .notBinary: "not a binary property list (the first bytes are not bplist00)"
        case .malformed(let what, let offset): "malformed binary property list at byte \(offset): \(what.rawValue)"
        case .unsupported(let kind, let offset):
            "the property list has an object of the unsupported kind \(kind.rawValue) at byte \(offset)"
        case .duplicateKey(let key): "a dictionary of the property list has the key \(key.debugDescription) twice"
        }
    }
}
