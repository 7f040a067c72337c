import Spooling

// Everything that a cut of the power may leave at one moment, under the model of the disk: an image for each choice
// among the unsynced changes, each with its digest before anything is put together.
//
// The digest of an image is a sum over the names in it, so what no unsynced change touches is added up once; an image
// costs what its choice costs. Where directories themselves are unsynced (the first start of all), or a file has more
// unsynced writes than bits are kept for, the image is put together instead.

package final class PowerCut {
    /// One step of the model: a change, or both halves of a rename where that is one.
    struct Unit {
        var changes: [UnsyncedChange]
        /// Bytes of a file, and not a name.
        var isData: Bool
        /// Counts among those of its kind.
        var rank: Int
    }

    private enum Action {
        case add(slot: Int, InodeNumber)
        case remove(slot: Int, InodeNumber)
        case data(file: Int, bit: Int)
    }

    private struct File {
        let number: InodeNumber
        /// Index of the unit of each of its unsynced changes of bytes.
        var units: [Int] = []
        var hashes: [UInt64: UInt64] = [:]
    }

    package let image: DiskImage
    let units: [Unit]
    /// How many units change names, and how many bytes.
    let nameCount: Int, dataCount: Int
    private var files: [File] = []
    private var slotPlaces: [UInt64] = []
    private var baseSlots: [InodeNumber?] = []
    /// Under which of the loose directories a slot is; -1 for none.
    private var slotLoose: [Int] = []
    /// What the name of a directory adds; 0 for a file's.
    private var slotMarkers: [UInt64] = []
    /// Directories whose own names are unsynced, and those in them; each behind the one that it is in.
    private var looseFolders: [(slot: Int, number: InodeNumber, parent: Int)] = []
    private var actions: [[Action]] = []
    private var baseDigest: UInt64 = 0
    private var fileOfPlace: [Int]
    private(set) var isSimple = true
    // Kept from image to image.
    private var slots: [InodeNumber?] = []
    private var masks: [UInt64] = []
    private var isVisible: [Bool] = []
    private var counts: [Int32]
    private var sums: [UInt64]
    private static let mostDataUnits = 60

    /// `image` is a snapshot: no handle is open in it.
    package init(_ image: DiskImage) {
        self.image = image
        var units: [Unit] = []
        for change in image.unsyncedChanges() {
            if image.renameAcrossDirectories == .atomic, change.counterpart != nil, let last = units.last,
                last.changes[0].sequence == change.sequence
            {
                units[units.count - 1].changes.append(change)
                continue
            }
            let isData = change.child == nil
            units.append(Unit(changes: [change], isData: isData, rank: units.count { $0.isData == isData }))
        }
        self.units = units
        dataCount = units.count { $0.isData }
        nameCount = units.count - dataCount
        fileOfPlace = Array(repeating: -1, count: image.places.count)
        counts = Array(repeating: 0, count: image.places.count)
        sums = Array(repeating: 0, count: image.places.count)
        prepare()
    }

    /// How many changes there are to choose from.
    package var unitCount: Int { units.count }

    /// The files with unsynced bytes, each with its units, in the order of their first.
    var dataFiles: [(number: InodeNumber, units: [Int])] {
        files.filter { !$0.units.isEmpty }.map { ($0.number, $0.units) }
    }

    // MARK: Preparing

    private func fileIndex(_ number: InodeNumber) -> Int {
        if fileOfPlace[number.place] < 0 {
            fileOfPlace[number.place] = files.count
            files.append(File(number: number))
        }
        return fileOfPlace[number.place]
    }

    /// Where a directory is, and under which of the loose ones; those may be there or not.
    private struct Folder {
        var place: UInt64
        var loose: Int
    }

    private struct LooseLeaf {
        var leaf: DiskImage.Leaf
        var loose: Int
    }

    /// What is known of the durable tree while it is walked.
    private struct Walk {
        var isLoose: [Bool]
        var folders: [Folder?]
        var leaves: [LooseLeaf] = []
        var slotOfPlace: [UInt64: Int] = [:]
    }

    private func prepare() {
        var walk = Walk(
            isLoose: Array(repeating: false, count: image.places.count),
            folders: Array(repeating: nil, count: image.places.count))
        for (index, unit) in units.enumerated() {
            for change in unit.changes {
                guard let child = change.child else {
                    files[fileIndex(change.inode)].units.append(index)
                    continue
                }
                if image[child].kind == .directory { walk.isLoose[child.place] = true } else { _ = fileIndex(child) }
            }
        }
        if files.contains(where: { $0.units.count > Self.mostDataUnits }) { isSimple = false }
        walk.folders[DiskImage.root.place] = Folder(place: 0, loose: -1)
        visit(DiskImage.root, &walk)
        for unit in units {
            for change in unit.changes { place(change, &walk) }
        }
        guard isSimple else { return }
        for item in walk.leaves where item.loose >= 0 { _ = fileIndex(item.leaf.inode) }
        for item in walk.leaves {
            counts[item.leaf.inode.place] += 1
            sums[item.leaf.inode.place] &+= item.leaf.place
        }
        for item in walk.leaves {
            let leaf = item.leaf
            if fileOfPlace[leaf.inode.place] >= 0 {
                _ = addSlot(leaf.place, leaf.inode, loose: item.loose, marker: 0, &walk)
            } else {
                baseDigest &+= ReaderDigest.part(
                    place: leaf.place, content: image.contentHash(leaf.inode, .durable),
                    count: counts[leaf.inode.place], places: sums[leaf.inode.place])
            }
        }
        prepareActions(&walk)
        for index in counts.indices { (counts[index], sums[index]) = (0, 0) }
        masks = Array(repeating: 0, count: files.count)
        isVisible = Array(repeating: false, count: looseFolders.count)
    }

    private func addSlot(
        _ place: UInt64, _ base: InodeNumber?, loose: Int, marker: UInt64, _ walk: inout Walk
    ) -> Int {
        walk.slotOfPlace[place] = slotPlaces.count
        slotPlaces.append(place)
        slotLoose.append(loose)
        slotMarkers.append(marker)
        baseSlots.append(base)
        return slotPlaces.count - 1
    }

    /// The names in a directory whose place is known, as they are durable.
    private func visit(_ directory: InodeNumber, _ walk: inout Walk) {
        guard let folder = walk.folders[directory.place] else { return }
        image[directory].table.forEach(in: .durable) { name, child in
            let place = ReaderDigest.place(name, in: folder.place)
            guard image[child].kind == .directory else {
                let leaf = DiskImage.Leaf(place: place, directory: directory, name: name, inode: child)
                walk.leaves.append(LooseLeaf(leaf: leaf, loose: folder.loose))
                return true
            }
            if walk.isLoose[child.place] || folder.loose >= 0 {
                addLoose(child, place, base: child, in: folder, &walk)
            } else {
                baseDigest &+= ReaderDigest.mixed(place ^ ReaderDigest.marker(image[child]))
                walk.folders[child.place] = Folder(place: place, loose: -1)
                visit(child, &walk)
            }
            return true
        }
    }

    private func addLoose(
        _ directory: InodeNumber, _ place: UInt64, base: InodeNumber?, in parent: Folder, _ walk: inout Walk
    ) {
        // Another one was there before: then two of them share their places.
        if walk.slotOfPlace[place] != nil { isSimple = false }
        let marker = ReaderDigest.mixed(place ^ ReaderDigest.marker(image[directory]))
        let slot = addSlot(place, base, loose: parent.loose, marker: marker, &walk)
        walk.folders[directory.place] = Folder(place: place, loose: looseFolders.count)
        looseFolders.append((slot, directory, parent.loose))
        visit(directory, &walk)
    }

    /// Finds the place of a directory that is made in a change. One that moves is more than is kept up with here.
    private func place(_ change: UnsyncedChange, _ walk: inout Walk) {
        guard let child = change.child, image[child].kind == .directory else { return }
        guard let parent = walk.folders[change.inode.place] else {
            isSimple = false
            return
        }
        switch change.change {
        case .addName(let name, _), .removeName(let name, _):
            let place = ReaderDigest.place(name, in: parent.place)
            if let known = walk.folders[child.place] {
                if known.place != place { isSimple = false }
            } else {
                addLoose(child, place, base: nil, in: parent, &walk)
            }
        case .rename, .write, .truncate: isSimple = false
        }
    }

    private func prepareActions(_ walk: inout Walk) {
        func slot(_ name: FileName, _ directory: InodeNumber) -> Int? {
            // In a directory that is gone for good nobody sees anything.
            guard let folder = walk.folders[directory.place] else { return nil }
            let key = ReaderDigest.place(name, in: folder.place)
            if let found = walk.slotOfPlace[key] { return found }
            // Taken by a file that no change is about: none of ours does that.
            if image[directory].table[name, .durable] != nil { isSimple = false }
            return addSlot(key, nil, loose: folder.loose, marker: 0, &walk)
        }
        var bits = [Int](repeating: 0, count: files.count)
        for unit in units {
            var found: [Action] = []
            for change in unit.changes {
                switch change.change {
                case .addName(let name, let inode):
                    if let slot = slot(name, change.inode) { found.append(.add(slot: slot, inode)) }
                case .removeName(let name, let inode):
                    if let slot = slot(name, change.inode) { found.append(.remove(slot: slot, inode)) }
                case .rename(let name, let newName, let inode):
                    if let slot = slot(name, change.inode) { found.append(.remove(slot: slot, inode)) }
                    if let slot = slot(newName, change.inode) { found.append(.add(slot: slot, inode)) }
                case .write, .truncate:
                    let file = fileIndex(change.inode)
                    found.append(.data(file: file, bit: bits[file]))
                    bits[file] += 1
                }
            }
            actions.append(found)
        }
    }

    // MARK: One image

    /// What a reader sees of the image that `choice` leaves.
    package func digest(_ choice: ImageChoice) -> UInt64 {
        guard isSimple else { return image(choice).readerDigest() }
        slots.removeAll(keepingCapacity: true)
        slots.append(contentsOf: baseSlots)
        for index in masks.indices { masks[index] = 0 }
        for index in units.indices where choice.keeps(index, units[index]) {
            for action in actions[index] {
                switch action {
                case .add(let slot, let inode): slots[slot] = inode
                case .remove(let slot, let inode): if slots[slot] == inode { slots[slot] = nil }
                case .data(let file, let bit): masks[file] |= 1 << UInt64(bit)
                }
            }
        }
        for (index, folder) in looseFolders.enumerated() {
            isVisible[index] =
                slots[folder.slot] == folder.number && (folder.parent < 0 || isVisible[folder.parent])
        }
        var digest = baseDigest
        for index in slots.indices {
            guard let inode = slots[index] else { continue }
            if slotLoose[index] >= 0, !isVisible[slotLoose[index]] {
                slots[index] = nil
            } else if slotMarkers[index] != 0 {
                digest &+= slotMarkers[index]
                slots[index] = nil
            } else {
                counts[inode.place] += 1
                sums[inode.place] &+= slotPlaces[index]
            }
        }
        for index in slots.indices {
            guard let inode = slots[index] else { continue }
            let file = fileOfPlace[inode.place]
            digest &+= ReaderDigest.part(
                place: slotPlaces[index], content: contentHash(file, masks[file], choice.tear),
                count: counts[inode.place], places: sums[inode.place])
        }
        for file in files { (counts[file.number.place], sums[file.number.place]) = (0, 0) }
        return digest
    }

    private func contentHash(_ index: Int, _ mask: UInt64, _ tear: ImageChoice.Tear?) -> UInt64 {
        if let tear, files[index].units.contains(tear.unit) { return computedHash(index, mask, tear) }
        if let known = files[index].hashes[mask] { return known }
        let hash = computedHash(index, mask, nil)
        files[index].hashes[mask] = hash
        return hash
    }

    private func computedHash(_ index: Int, _ mask: UInt64, _ tear: ImageChoice.Tear?) -> UInt64 {
        let inode = image[files[index].number]
        guard inode.kind == .regular else { return ReaderDigest.marker(inode) }
        var bytes = inode.durable
        for (bit, unit) in files[index].units.enumerated() where mask >> UInt64(bit) & 1 == 1 {
            units[unit].changes[0].carryOut(on: &bytes, tear?.unit == unit ? tear : nil)
        }
        return ReaderDigest.content(bytes) ^ ReaderDigest.marker(inode)
    }

    /// The disk that `choice` leaves, with nothing unsynced on it.
    package func image(_ choice: ImageChoice) -> DiskImage {
        var image = image
        for (index, unit) in units.enumerated() where choice.keeps(index, unit) {
            for change in unit.changes {
                if unit.isData, let tear = choice.tear, tear.unit == index {
                    change.carryOut(on: &image[change.inode].durable, tear)
                } else {
                    image.apply(change)
                }
            }
        }
        image.restartFromDurable()
        return image
    }

    /// Every unsynced change, a line each, with whether it is there.
    package func listing(_ choice: ImageChoice) -> [String] {
        units.enumerated().flatMap { index, unit in
            unit.changes.map { change in
                let what =
                    switch change.change {
                    case .addName(let name, let inode): "add \(name) for \(inode.place)"
                    case .removeName(let name, let inode): "remove \(name) of \(inode.place)"
                    case .rename(let name, let newName, let inode): "rename \(name) to \(newName) of \(inode.place)"
                    case .write(let offset, let bytes): "write \(bytes.count) bytes at \(offset)"
                    case .truncate(let byteCount): "truncate to \(byteCount) bytes"
                    }
                let isTorn = choice.tear?.unit == index
                return "\(choice.keeps(index, unit) ? "+" : "-") \(index) in \(change.inode.place): \(what)"
                    + (isTorn ? ", torn" : "")
            }
        }
    }

    /// How long the write of a unit is; `nil` for anything else.
    func write(_ unit: Int) -> (offset: Int, count: Int)? {
        guard case .write(let offset, let bytes) = units[unit].changes[0].change else { return nil }
        return (Int(offset), bytes.count)
    }
}

// `digest` belongs to one thread; the image and its choices may be read by all.
extension PowerCut: @unchecked Sendable {}

extension UnsyncedChange {
    fileprivate func carryOut(on content: inout [UInt8], _ tear: ImageChoice.Tear?) {
        switch change {
        case .write(let offset, let bytes):
            let start = Int(offset)
            guard let tear else { return content.put(bytes[...], at: start) }
            let border = min(max(0, Int(tear.border) - start), bytes.count)
            switch tear.part {
            case .head: content.put(bytes[..<border], at: start)
            case .tail: content.put(bytes[border...], at: start + border)
            case .length: if content.count < start + bytes.count { content.setLength(start + bytes.count) }
            }
        case .truncate(let byteCount): content.setLength(Int(byteCount))
        case .addName, .removeName, .rename: preconditionFailure("a name has no bytes: \(self)")
        }
    }
}
