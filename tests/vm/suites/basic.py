from vm import Failure
def test_up(vm):
    "it boots"
    print(vm.sh("nvme list; nvme smart-log /dev/nvme0 -o json; nvme smart-log /dev/nvme1 | head -5; systemctl --failed; systemd-analyze; systemd-analyze blame | head; id ember; ls -ld /run/ember; systemctl start ember-broker.socket; ls -l /run/ember; free -m; grep nvme /proc/devices; ls /sys/class/nvme/nvme1/"))
    vm.qmp("device_del", id="drive-a")
    print(vm.wait("gone", lambda: vm.run("test -e /dev/nvme0").status))
    print(vm.events)
