/// How much an entry matters; the numbers are those of syslog(3).
package enum Priority: Int, Sendable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
}
