// The bytes of the Trace Event Format: one event a line, keys in a fixed order, so that equal histories give equal files.

/// One argument of an event.
enum TraceArgument {
    case text(String, String)
    case number(String, UInt64)
}

/// How far an instant is drawn.
enum TraceScope: String {
    case thread = "t"
    case process = "p"
    case global = "g"
}

struct TraceEventWriter {
    enum SpanPhase: String {
        case begin = "b"
        case end = "e"
    }

    enum FlowPhase: String {
        case begin = "s"
        case step = "t"
        case end = "f"
    }

    /// How long a moment is drawn.
    static let sliceNanoseconds: UInt64 = 1_000

    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    /// Hands over what there is, and goes on with nothing.
    mutating func hand(to sink: (borrowing [UInt8]) -> Void) {
        guard !bytes.isEmpty else { return }
        sink(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func open(title: String) {
        add("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":")
        quote(title)
        add("},\"traceEvents\":[\n")
    }

    mutating func close() { add("\n]}\n") }

    mutating func metadata(_ name: String, track: ChromeTrace.Track?, _ argument: TraceArgument) {
        start("M", name, track, at: nil)
        finish([argument])
    }

    mutating func slice(_ name: String, _ point: TracePoint, _ arguments: [TraceArgument]) {
        start("X", name, point.track, at: point.nanoseconds)
        add(",\"dur\":")
        microseconds(Self.sliceNanoseconds)
        finish(arguments)
    }

    mutating func instant(_ name: String, _ point: TracePoint, _ scope: TraceScope, _ arguments: [TraceArgument]) {
        start("i", name, point.track, at: point.nanoseconds)
        add(",\"s\":\"\(scope.rawValue)\"")
        finish(arguments)
    }

    mutating func span(
        _ phase: SpanPhase, _ span: TraceSpans.Span, at nanoseconds: UInt64, _ arguments: [TraceArgument]
    ) {
        start(phase.rawValue, span.name, span.track, at: nanoseconds)
        add(",\"cat\":\"span\",\"id\":\"\(span.number)\"")
        finish(arguments)
    }

    mutating func flow(_ phase: FlowPhase, _ number: Int, _ point: TracePoint) {
        start(phase.rawValue, "recording", point.track, at: point.nanoseconds)
        add(",\"cat\":\"recording\",\"id\":\"\(number)\"")
        // Otherwise an end binds to the slice after it.
        if phase == .end { add(",\"bp\":\"e\"") }
        finish([])
    }

    // MARK: Parts of a line

    private mutating func start(_ phase: String, _ name: String, _ track: ChromeTrace.Track?, at nanoseconds: UInt64?) {
        if !isFirst { add(",\n") }
        isFirst = false
        add("{\"ph\":\"\(phase)\",\"name\":")
        quote(name)
        add(",\"pid\":1,\"tid\":\(track?.rawValue ?? 0),\"ts\":")
        microseconds(nanoseconds ?? 0)
    }

    private mutating func finish(_ arguments: [TraceArgument]) {
        if !arguments.isEmpty {
            for (index, argument) in arguments.enumerated() {
                add(index == 0 ? ",\"args\":{" : ",")
                switch argument {
                case .text(let key, let value):
                    add("\"\(key)\":")
                    quote(value)
                case .number(let key, let value): add("\"\(key)\":\(value)")
                }
            }
            add("}")
        }
        add("}")
    }

    /// Three digits behind the point, so that no nanosecond is lost.
    private mutating func microseconds(_ nanoseconds: UInt64) {
        let rest = nanoseconds % 1_000
        add("\(nanoseconds / 1_000)")
        guard rest > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        for digit in [rest / 100, rest / 10 % 10, rest % 10] { bytes.append(UInt8(ascii: "0") + UInt8(digit)) }
    }

    private mutating func add(_ text: String) { bytes += text.utf8 }

    private mutating func quote(_ text: String) {
        let hexDigits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20, 0x7F:
                add("\\u00")
                bytes += [hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            case _: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
