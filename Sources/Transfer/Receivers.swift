import CCurl

/// libcurl's CURLOPT_HEADERFUNCTION: takes a line; a short count ends the transfer.
func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userdata: UnsafeMutableRawPointer?
) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe exchange(userdata)?.take(header: line) == true ? line.count : refused(line)
}

/// libcurl's CURLOPT_WRITEFUNCTION: takes a part of the body; a short count ends the transfer.
func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userdata: UnsafeMutableRawPointer?
) -> Int {
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe exchange(userdata)?.take(body: part) == true ? part.count : refused(part)
}

/// The one place where libcurl's userdata becomes the exchange again. The exchange owns the handle
/// that calls, so it is there.
func exchange(_ userdata: UnsafeMutableRawPointer?) -> Exchange? {
    guard let userdata = unsafe userdata else { return nil }
    return unsafe Unmanaged<Exchange>.fromOpaque(userdata).takeUnretainedValue()
}

/// The exchange of an easy handle.
func exchange(of easy: UnsafeMutableRawPointer) -> Exchange? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_easy_get_text(easy, CURLINFO_PRIVATE, &text) == CURLE_OK else { return nil }
    return unsafe exchange(UnsafeMutableRawPointer(text))
}

/// Any other count than that of the bytes says no, also where there are none.
private func refused(_ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe bytes.isEmpty ? 1 : 0
}
