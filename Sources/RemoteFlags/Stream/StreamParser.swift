package import Transfer

/// Reads a stream as it comes. One is made for each connection.
///
/// It keeps a bounded part of what it has read, whatever comes. It is called from within libcurl, and
/// only says what it has found.
package protocol StreamParser {
    /// Adds what the headers of the answer say, whose status is 200.
    mutating func begin(_ headers: HeaderSection, _ news: inout StreamNews)

    /// Adds what the next bytes say. They may end anywhere, in the middle of a character too.
    mutating func take(_ bytes: [UInt8], _ news: inout StreamNews)

    /// Adds what is left when the server has ended the stream: a last line without its end, for one.
    mutating func finish(_ news: inout StreamNews)
}

extension StreamParser {
    /// The status says enough.
    package mutating func begin(_ headers: HeaderSection, _ news: inout StreamNews) {}
}
