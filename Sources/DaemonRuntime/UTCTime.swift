/// Instants as people read them, always in UTC, without a calendar library on the daemons' path.
package enum UTCTime {
    /// `HH:MM:SS.mmm`.
    package static func timeOfDay(millisecondsSince1970: Int64) -> String {
        let day: Int64 = 86_400_000
        let rest = UInt64(((millisecondsSince1970 % day) + day) % day)
        let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60)
        let (seconds, milliseconds) = (rest / 1_000 % 60, rest % 1_000)
        return "\(pad(hours, 2)):\(pad(minutes, 2)):\(pad(seconds, 2)).\(pad(milliseconds, 3))"
    }

    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`, in the Gregorian calendar also before it was used.
    package static func instant(millisecondsSince1970: Int64) -> String {
        let day: Int64 = 86_400_000
        let days = (millisecondsSince1970 - ((millisecondsSince1970 % day) + day) % day) / day
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(pad(UInt64(max(0, year)), 4))-\(pad(UInt64(month), 2))-\(pad(UInt64(dayOfMonth), 2))"
        return "\(date)T\(timeOfDay(millisecondsSince1970: millisecondsSince1970))Z"
    }

    private static func pad(_ number: UInt64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
