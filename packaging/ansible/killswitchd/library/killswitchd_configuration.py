#!/usr/bin/python
"""Puts the configuration of killswitchd in place, all of it or nothing, and has the daemon reload it."""

import os
import re
import shutil

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: killswitchd_configuration
short_description: Put the configuration of killswitchd in place, all of it or nothing
description:
  - Has killswitchd check the configuration as it would be with the given files. If it accepts them, they are put in
    place, and a running daemon reloads. If it refuses them, nothing changes, and the module fails with its words.
  - Removes drop-ins that it has written before and that are not given any more. Their first line tells them apart.
options:
  configuration:
    description: The text of killswitchd.toml. An empty text leaves the file as it is.
    type: str
    default: ""
  dropins:
    description: The texts of the drop-ins in conf.d, by their names without C(.toml).
    type: dict
    default: {}
  allowed_signers:
    description: The text of allowed_signers. An empty text leaves the file as it is.
    type: str
    default: ""
  files:
    description: The texts of other files in /etc/killswitchd, by their names.
    type: dict
    default: {}
author: killswitchd maintainers
"""

ROOT = "/etc/killswitchd"
HEADER = "# Managed by Ansible: changes here are lost."
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def wanted_files(module):
    """The texts of the files to be, by their paths below ROOT."""
    parameters, files = module.params, {}

    def add(kind, path, name, text):
        if not NAME.fullmatch(str(name)):
            module.fail_json(msg=f"{kind} '{name}': a name has letters, digits, '.', '_' and '-' alone")
        if not isinstance(text, str):
            module.fail_json(msg=f"{kind} '{name}': its text is {type(text).__name__}, and not a string")
        if path in files:
            module.fail_json(msg=f"{kind} '{name}': '{path}' is given twice")
        is_toml = path.endswith(".toml")
        files[path] = (f"{HEADER}\n" if is_toml else "") + (text if text.endswith("\n") else f"{text}\n")

    if parameters["configuration"]:
        add("configuration", "killswitchd.toml", "killswitchd.toml", parameters["configuration"])
    if parameters["allowed_signers"]:
        add("allowed_signers", "allowed_signers", "allowed_signers", parameters["allowed_signers"])
    for name, text in parameters["dropins"].items():
        add("drop-in", f"conf.d/{name}.toml", name, text)
    for name, text in parameters["files"].items():
        if str(name) in ("killswitchd.toml", "conf.d", "credentials", "web"):
            module.fail_json(msg=f"file '{name}': this name belongs to killswitchd")
        add("file", str(name), name, text)
    return files


def content(path):
    """The text of a file; None without it. Bytes that are no UTF-8 are replaced: they are shown, and compared, alone."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def changes(wanted):
    """What each file that has to change has now and shall have; None is no file."""
    found = {path: (content(f"{ROOT}/{path}"), text) for path, text in wanted.items()}
    folder = f"{ROOT}/conf.d"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = f"conf.d/{name}"
        if path not in wanted and name.endswith(".toml") and os.path.isfile(f"{ROOT}/{path}"):
            text = content(f"{ROOT}/{path}")
            if text.startswith(HEADER):
                found[path] = (text, None)
    return {path: change for path, change in found.items() if change[0] != change[1]}


def stage(module, changed):
    """A copy of ROOT with the changes."""
    folder = f"{module.tmpdir}/killswitchd"
    if os.path.isdir(ROOT):
        module.run_command(["cp", "--archive", ROOT, folder], check_rc=True)
    os.makedirs(f"{folder}/conf.d", mode=0o755, exist_ok=True)
    for path, (_, text) in changed.items():
        place = f"{folder}/{path}"
        if text is None or os.path.islink(place):
            os.remove(place)
        if text is not None:
            is_new = not os.path.exists(place)
            with open(place, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            if is_new:
                os.chmod(place, 0o644)
    return folder


def check(module, folder):
    """Fails with the words of killswitchd if it refuses the staged files. It sees them in their place: in a mount
    namespace of its own."""
    script = f'mount --bind "$1" {ROOT} && exec killswitchd --check'
    status, _, errors = module.run_command(["unshare", "--mount", "sh", "-c", script, "sh", folder])
    lines = [line for line in errors.splitlines() if line]
    broken = [line for line in lines if f"{ROOT}/allowed_signers" in line]
    if status != 0 or broken:
        module.fail_json(
            rc=status, stderr=errors,
            msg="killswitchd refuses the configuration; nothing was changed:\n" + "\n".join(lines if status else broken))
    for line in lines:
        module.warn(line)


def put_in_place(module, folder, changed):
    for path, (_, text) in changed.items():
        if text is None:
            os.remove(f"{ROOT}/{path}")
        else:
            module.atomic_move(f"{folder}/{path}", f"{ROOT}/{path}")


def reload(module):
    """Has a running daemon read the configuration, and fails with its words."""
    status, _, _ = module.run_command(["systemctl", "--quiet", "is-active", "killswitchd.service"])
    if status != 0:
        return
    status, output, errors = module.run_command(["killswitchctl", "reload"])
    if status != 0:
        module.fail_json(
            rc=status, stdout=output, stderr=errors, changed=True,
            msg=f"'killswitchctl reload' ended with {status}:\n{(errors or output).strip()}")
    for line in errors.splitlines():
        module.warn(line)


def main():
    module = AnsibleModule(
        argument_spec={
            "configuration": {"type": "str", "default": ""},
            "dropins": {"type": "dict", "default": {}},
            "allowed_signers": {"type": "str", "default": ""},
            "files": {"type": "dict", "default": {}},
        },
        supports_check_mode=True)
    changed = changes(wanted_files(module))
    is_installed = shutil.which("killswitchd") is not None
    if not is_installed and not module.check_mode:
        module.fail_json(
            msg="killswitchd is not on this host: set killswitchd_deb or killswitchd_package, or install it before")
    if changed and is_installed:
        folder = stage(module, changed)
        check(module, folder)
        if not module.check_mode:
            put_in_place(module, folder, changed)
            reload(module)
    module.exit_json(
        changed=bool(changed),
        diff=[
            {"before_header": f"{ROOT}/{path}", "before": before or "",
             "after_header": f"{ROOT}/{path}", "after": after or ""}
            for path, (before, after) in sorted(changed.items())])


if __name__ == "__main__":
    main()
