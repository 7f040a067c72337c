import Spooling

/// The names of one directory in both views, in a scattered order that depends on the names and the directory alone.
///
/// A hash table with linear probing whose entries lie in the order of their hashes: a place has many followers, so a full
/// look walks the array, finds the same order in every run whatever was made and removed before, and sorts nothing.
struct NameTable: Sendable {
    private struct Entry {
        /// Zero: nothing is here.
        var hash: UInt64 = 0
        var name: FileName?
        var written: InodeNumber?
        var durable: InodeNumber?
    }

    /// Places for `1 << bits` hashes, and behind them what the last of them pushed out.
    private var entries: [Entry] = []
    private var bits = 0
    private var count = 0
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
    }

    /// What `name` stands for in a view; setting `nil` removes it there.
    subscript(name: FileName, view: DiskView) -> InodeNumber? {
        get {
            let (index, isThere) = place(of: name, hash(name))
            guard isThere else { return nil }
            return view == .written ? entries[index].written : entries[index].durable
        }
        set {
            let hash = hash(name)
            var (index, isThere) = place(of: name, hash)
            if !isThere {
                guard newValue != nil else { return }
                if count * 2 >= 1 << bits {
                    grow()
                    index = place(of: name, hash).index
                }
                insert(Entry(hash: hash, name: name), at: index)
            }
            switch view {
            case .written: entries[index].written = newValue
            case .durable: entries[index].durable = newValue
            }
            if newValue == nil, entries[index].written == nil, entries[index].durable == nil { remove(at: index) }
        }
    }

    /// What a name that is still a part of a path stands for.
    func find(_ part: UnsafeRawBufferPointer, in view: DiskView) -> InodeNumber? {
        guard !entries.isEmpty else { return nil }
        let hash = hash(of: part)
        var index = Int(truncatingIfNeeded: hash >> UInt64(64 - bits))
        while index < entries.count, entries[index].hash != 0, entries[index].hash <= hash {
            if entries[index].hash == hash, entries[index].name?.bytes.elementsEqual(part) == true {
                return view == .written ? entries[index].written : entries[index].durable
            }
            index += 1
        }
        return nil
    }

    /// What is written under `name` becomes durable; `before` is what was.
    mutating func settle(_ name: FileName) -> (before: InodeNumber?, now: InodeNumber?) {
        let (index, isThere) = place(of: name, hash(name))
        guard isThere else { return (nil, nil) }
        let (before, now) = (entries[index].durable, entries[index].written)
        entries[index].durable = now
        if now == nil { remove(at: index) }
        return (before, now)
    }

    /// What is durable under `name` is what is written; `before` is what was.
    mutating func unsettle(_ name: FileName) -> (before: InodeNumber?, now: InodeNumber?) {
        let (index, isThere) = place(of: name, hash(name))
        guard isThere else { return (nil, nil) }
        let (before, now) = (entries[index].written, entries[index].durable)
        entries[index].written = now
        if now == nil { remove(at: index) }
        return (before, now)
    }

    /// Every name of a view, until `body` returns `false`.
    func forEach(in view: DiskView, _ body: (FileName, InodeNumber) throws -> Bool) rethrows {
        guard count > 0 else { return }
        try entries.withUnsafeBufferPointer { entries in
            for index in entries.indices {
                guard let number = view == .written ? entries[index].written : entries[index].durable,
                    let name = entries[index].name
                else { continue }
                guard try body(name, number) else { return }
            }
        }
    }

    /// The durable names are all there are.
    mutating func forgetWritten() {
        for name in names(in: .written) { self[name, .written] = nil }
        for name in names(in: .durable) { self[name, .written] = self[name, .durable] }
    }

    func names(in view: DiskView) -> [FileName] {
        var names: [FileName] = []
        forEach(in: view) { name, _ in
            names.append(name)
            return true
        }
        return names
    }

    // MARK: Places

    /// Where a name is, or where it belongs.
    private func place(of name: FileName, _ hash: UInt64) -> (index: Int, isThere: Bool) {
        guard !entries.isEmpty else { return (0, false) }
        var index = Int(truncatingIfNeeded: hash >> UInt64(64 - bits))
        while index < entries.count {
            let found = entries[index].hash
            if found == 0 || found > hash { break }
            if found == hash, let there = entries[index].name {
                if there == name { return (index, true) }
                if name < there { break }
            }
            index += 1
        }
        return (index, false)
    }

    private mutating func insert(_ entry: Entry, at index: Int) {
        var hole = index
        while hole < entries.count, entries[hole].hash != 0 { hole += 1 }
        if hole == entries.count { entries.append(Entry()) }
        while hole > index {
            entries.swapAt(hole, hole - 1)
            hole -= 1
        }
        entries[index] = entry
        count += 1
    }

    private mutating func remove(at index: Int) {
        var hole = index
        // Whoever does not lie where his hash wants him moves up.
        while hole + 1 < entries.count, entries[hole + 1].hash != 0,
            Int(truncatingIfNeeded: entries[hole + 1].hash >> UInt64(64 - bits)) <= hole
        {
            entries.swapAt(hole, hole + 1)
            hole += 1
        }
        entries[hole] = Entry()
        count -= 1
    }

    private mutating func grow() {
        let old = entries
        bits = max(3, bits + 1)
        entries = [Entry](repeating: Entry(), count: 1 << bits)
        // In the order of their hashes, so each comes behind all that are there.
        var next = 0
        for entry in old where entry.hash != 0 {
            next = max(next, Int(truncatingIfNeeded: entry.hash >> UInt64(64 - bits)))
            if next == entries.count { entries.append(Entry()) }
            entries[next] = entry
            next += 1
        }
    }

    // MARK: Hashes

    /// Eight bytes at a time, each step a multiplication to 128 bits whose halves are folded. The same on every platform.
    private func hash(_ name: FileName) -> UInt64 {
        name.bytes.withUnsafeBytes { hash(of: $0) }
    }

    private func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            hash = NameTable.mixed(hash ^ UInt64(littleEndian: word))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        // Zero says that nothing is there.
        return max(1, NameTable.mixed(NameTable.mixed(hash ^ rest)))
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

extension NameTable: Hashable {
    /// The same names for the same files; how much room a table once took does not count.
    static func == (left: NameTable, right: NameTable) -> Bool {
        guard left.seed == right.seed, left.count == right.count else { return false }
        return left.entries.lazy.filter { $0.name != nil }.elementsEqual(right.entries.lazy.filter { $0.name != nil }) {
            $0.name == $1.name && $0.written == $1.written && $0.durable == $1.durable
        }
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(seed)
        hasher.combine(count)
        for entry in entries where entry.name != nil { hasher.combine(entry.hash) }
    }
}
