import Foundation
import Testing
import WireContract

/// The two other implementations of the format that an app or a colleague would use.
@Suite("The codec agrees") struct InteropTests {
    private func foundation(read bytes: [UInt8]) throws -> Any {
        var format = PropertyListSerialization.PropertyListFormat.xml
        let any = try PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
        #expect(format == .binary)
        return any
    }

    /// What Foundation says about a value, as a value of ours: the bridge sorts, so compare with `sorted()`.
    private func bridged(_ any: Any) throws -> PropertyListValue {
        let dictionary = try PropertyListDictionary(bridging: ["x": any])
        return try #require(dictionary["x"])
    }

    @Test("with Foundation's reader and writer")
    func foundation() throws {
        var maker = ValueMaker(seed: 11)
        for _ in 0..<300 {
            let value = PropertyListValue.dictionary(maker.dictionary(depth: 2))
            let ours = try BinaryPropertyList.encode(value)
            let any = try foundation(read: ours)
            #expect(try bridged(any) == value.sorted())

            let theirs = try PropertyListSerialization.data(fromPropertyList: any, format: .binary, options: 0)
            #expect(try BinaryPropertyList.decode([UInt8](theirs)).sorted() == value.sorted())
        }
    }

    @Test("with Foundation where a reference or an offset just needs another byte", arguments: [200, 252, 65_530])
    func foundationWidths(_ size: Int) throws {
        let limits = BinaryPropertyList.Limits.generous
        for count in size...size + 6 {
            // As many bytes in one string, which moves the table, and as many objects, which widens the references.
            let text = PropertyListValue.array([.string(String(repeating: "x", count: count))])
            let many = PropertyListValue.array((0..<count).map { .integer(Int64($0)) })
            for value in [text, many] {
                let any = try foundation(read: BinaryPropertyList.encode(value, limits: limits))
                let theirs = try PropertyListSerialization.data(fromPropertyList: any, format: .binary, options: 0)
                #expect(try BinaryPropertyList.decode(theirs, limits: limits) == value, "\(count)")
            }
        }
    }

    @Test("with Foundation about the kinds of numbers", .timeLimit(.minutes(1)))
    func foundationNumbers() throws {
        let numbers: [(any: Any, value: PropertyListValue)] = [
            (true, .boolean(true)), (false, .boolean(false)), (1, .integer(1)), (0, .integer(0)),
            (Int8(-3), .integer(-3)), (NSNumber(value: UInt8(200)), .integer(200)), (Int.min, .integer(.min)),
            (UInt64.max, .unsigned(.max)), (UInt64(1), .integer(1)), (1.0, .real(1)), (0.1, .real(0.1)),
            (Float(1.5), .real(1.5)), (-0.0, .real(-0.0)), (NSNumber(value: true), .boolean(true)),
            (NSNumber(value: 1), .integer(1)), (NSNumber(value: Int8(1)), .integer(1)),
            (NSNumber(value: 1.0), .real(1)), (NSNumber(value: UInt64.max), .unsigned(.max)),
            (NSNumber(value: Float(1.5)), .real(1.5)), (NSNumber(value: UInt8(1)), .integer(1)),
        ]
        // Numbers that Foundation on Linux does not write, and that an app may still have in its dictionary.
        #expect(try bridged(UInt8(200)) == .integer(200))
        #expect(try bridged(CGFloat(2)) == .real(2))
        for (any, value) in numbers {
            #expect(try bridged(any) == value)
            let theirs = try PropertyListSerialization.data(fromPropertyList: [any], format: .binary, options: 0)
            #expect(try BinaryPropertyList.decode([UInt8](theirs)) == .array([value]))
            let back = try foundation(read: [UInt8](theirs)) as? [Any]
            #expect(try bridged(#require(back?.first)) == value)
        }
    }

    @Test("with Python's plistlib as the reader of what it wrote")
    func pythonReads() throws {
        var maker = ValueMaker(seed: 21)
        let values: [PropertyListValue] = (0..<200).map { _ in forPython(.dictionary(maker.dictionary(depth: 2))) }
        let lists = try values.map { try BinaryPropertyList.encode($0) }
        // Python reads each of our lists and writes it anew; the second writer shares objects differently.
        let script = """
            import plistlib, struct, sys
            data = sys.stdin.buffer.read()
            out = b''
            while data:
                size, = struct.unpack('>I', data[:4])
                value = plistlib.loads(data[4:4 + size], fmt=plistlib.FMT_BINARY)
                data = data[4 + size:]
                again = plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
                out += struct.pack('>I', len(again)) + again
            sys.stdout.buffer.write(out)
            """
        let answers = framed(try python(script, input: lists.flatMap { frame($0) }))
        try #require(answers.count == values.count)
        for (value, answer) in zip(values, answers) {
            #expect(try BinaryPropertyList.decode(answer).sorted() == value.sorted())
        }
    }

    @Test("with Python's plistlib about every kind by name")
    func pythonKinds() throws {
        let script = """
            import datetime, plistlib, sys
            sys.stdin.buffer.read()
            sys.stdout.buffer.write(plistlib.dumps({
                'v': 1, 'negative': -129, 'big': 2**64 - 1, 'edge': 2**63, 'wide': 2**32, 'real': 0.1, 'true': True,
                'false': False, 'ascii': 'note', 'utf16': 'Gr\\u00fc\\u00dfe \\U0001F600', 'data': b'\\x00\\xff',
                'date': datetime.datetime(2025, 6, 1, 12, 0, 0, 250000), 'array': [1, [2, {}]], 'long': 'x' * 300,
            }, fmt=plistlib.FMT_BINARY, sort_keys=False))
            """
        let value = try BinaryPropertyList.decode(try python(script, input: []))
        let expected = PropertyListDictionary(pairs: [
            "v": .integer(1), "negative": .integer(-129), "big": .unsigned(.max), "edge": .unsigned(1 << 63),
            "wide": .integer(1 << 32), "real": .real(0.1), "true": .boolean(true), "false": .boolean(false),
            "ascii": .string("note"), "utf16": .string("Grüße 😀"), "data": .data([0, 255]),
            "date": .date(secondsSinceReferenceDate: 770_472_000.25),
            "array": .array([.integer(1), .array([.integer(2), .dictionary(PropertyListDictionary())])]),
            "long": .string(String(repeating: "x", count: 300)),
        ])
        #expect(value == .dictionary(expected))

        let check = """
            import datetime, plistlib, sys
            value = plistlib.loads(sys.stdin.buffer.read(), fmt=plistlib.FMT_BINARY)
            assert value['date'] == datetime.datetime(2025, 6, 1, 12, 0, 0, 250000), value
            assert value['true'] is True and value['v'] == 1 and value['v'] is not True, value
            assert type(value['real']) is float and value['big'] == 2**64 - 1 and value['negative'] == -129, value
            assert value['utf16'] == 'Gr\\u00fc\\u00dfe \\U0001F600' and value['data'] == b'\\x00\\xff', value
            sys.stdout.write('checked')
            """
        let answer = try python(check, input: try BinaryPropertyList.encode(value))
        #expect(answer == Array("checked".utf8))
    }

    @Test("with nobody about what Python's plistlib writes beyond the contract")
    func pythonUID() throws {
        let script = """
            import plistlib, sys
            sys.stdin.buffer.read()
            sys.stdout.buffer.write(plistlib.dumps({'u': plistlib.UID(7)}, fmt=plistlib.FMT_BINARY))
            """
        let bytes = try python(script, input: [])
        #expect {
            try BinaryPropertyList.decode(bytes)
        } throws: { error in
            guard case .unsupported(.uid, _)? = error as? PropertyListError else { return false }
            return true
        }
    }

    /// Python's dates end with microseconds (they have a test of their own), and its writer makes one object of 0.0 and -0.0
    /// because they are equal: neither can come back.
    private func forPython(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .real(let number) where number == 0: .real(0)
        case .date(let seconds): .real(seconds)
        case .array(let values): .array(values.map { forPython($0) })
        case .dictionary(var dictionary):
            {
                for entry in dictionary.entries { dictionary[entry.key] = forPython(entry.value) }
                return .dictionary(dictionary)
            }()
        case .string, .integer, .unsigned, .real, .boolean, .data: value
        }
    }

    private func frame(_ bytes: [UInt8]) -> [UInt8] {
        RawList.bigEndian(UInt64(bytes.count), width: 4) + bytes
    }

    private func framed(_ bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            frames.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return frames
    }
}
