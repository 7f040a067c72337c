/// A table for a terminal: columns as wide as their widest cell, two spaces between them, no spaces at the ends of lines.
///
/// A cell is as wide as it has Unicode scalars, which is right for the ids, numbers and paths that the pair prints. Control
/// characters in a cell become U+FFFD: names from a spool must not move somebody's cursor.
package struct TextTable: Sendable {
    package enum Alignment: Sendable { case left, right }

    package struct Column: Sendable {
        package var title: String
        package var alignment: Alignment

        package init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row. It has one cell for each column.
    package mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "\(cells.count) cells for \(columns.count) columns: \(cells)")
        rows.append(cells.map(Self.printable))
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// The header and the rows, one line each.
    package var lines: [String] {
        let all = [columns.map { Self.printable($0.title) }] + rows
        let widths = columns.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (index, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[index] - Self.width(cell))
                if index > 0 { line += "  " }
                switch columns[index].alignment {
                case .left: line += cell + padding
                case .right: line += padding + cell
                }
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    private static func width(_ text: String) -> Int { text.unicodeScalars.count }

    private static func printable(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0: clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }
}
