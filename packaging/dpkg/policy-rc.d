#!/bin/sh
# usage: policy-rc.d UNIT ACTIONS [RUNLEVEL]
#
# An example for /usr/sbin/policy-rc.d of Debian (invoke-rc.d(8), deb-systemd-invoke(1p)). A package that is upgraded
# starts its unit again. Behind a closed gate systemd refuses that, and a script that takes a refused start for an error
# leaves the package half-configured. This answers 101, "not allowed", for such a unit: the package goes on, and the unit
# starts when its gate opens.
#
#     install -m 755 /usr/share/killswitchd/policy-rc.d /usr/sbin/policy-rc.d
#
# A host may have one such file. Where yours has one already, call this from it.
case $2 in
start | restart | force-restart | reload | force-reload | *start*) ;;
*) exit 0 ;;
esac

unit=${1%.service}
case $1 in
*.socket | *.timer | *.path) unit=$1 ;;
*) unit=$unit.service ;;
esac
for file in "/etc/systemd/system/$unit.d"/50-killswitch-*.conf "/run/systemd/system/$unit.d"/50-killswitch-*.conf; do
    [ -e "$file" ] || continue
    grep -q '^AssertPathExists=/run/killswitchd/.*/open$' "$file" || continue
    service=${file##*/50-killswitch-}
    [ -e "/run/killswitchd/${service%.conf}/open" ] || exit 101
done
exit 0
