import CSystemd

/// This machine's id for one application, 32 hexadecimal digits: stable as long as the system is, and
/// without a way back to the id in `/etc/machine-id`, which machine-id(5) wants kept on the host. Nil
/// where the machine has none.
package func machineID(forApplication application: String) -> String? {
    var (key, id) = (sd_id128_t(), sd_id128_t())
    guard unsafe sd_id128_from_string(application, &key) == 0,
        unsafe sd_id128_get_machine_app_specific(key, &id) == 0
    else { return nil }
    var text = [CChar](repeating: 0, count: 33)
    guard unsafe sd_id128_to_string(id, &text) != nil else { return nil }
    return String(decoding: text.prefix(32).map(UInt8.init(bitPattern:)), as: UTF8.self)
}
