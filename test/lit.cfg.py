"""The test suite: which files are tests, what they may call, what they may need.

Tests call uattn-opt, uattn-compile, uattn-run, FileCheck, not and split-file by
name. Substitutions: %unit (folder of the unit test programs), %inputs (the
shared input files), %python, %cc, %build, %source, %llvm; where they are found
%ptxas and %nvjitlink.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import shutil

import lit.formats

config.name = "uattn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.uattn_source_dir, "test")
config.test_exec_root = os.path.join(config.uattn_build_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.uattn_build_dir, "bin"),
        os.path.join(config.uattn_llvm_dir, "bin"),
        os.environ["PATH"],
    ]
)
for name in ("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%unit", os.path.join(config.uattn_build_dir, "test", "unit", "bin")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%python", config.uattn_python),
    ("%cc", config.uattn_c_compiler),
    ("%build", config.uattn_build_dir),
    ("%source", config.uattn_source_dir),
    ("%llvm", config.uattn_llvm_dir),
]

# A test that hangs fails. The limit needs psutil, which tools/dev/setup
# installs.
supports_limit, _ = lit_config.maxIndividualTestTimeIsSupported
if supports_limit and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = 300


def first_file(paths):
    """The first of `paths` that is a file, None where none is."""
    return next((path for path in paths if path and os.path.isfile(path)), None)


def find_ptxas():
    return first_file([shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"])


def find_nvjitlink():
    folders = ("/usr/local/cuda/lib64", "/usr/local/cuda/lib")
    return first_file(os.path.join(f, "libnvJitLink.so.13") for f in folders)


def has_sm90():
    """Whether the driver is there and any of its devices is an sm_90."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return False
    capability_major, capability_minor = 75, 76  # CUdevice_attribute
    for device in range(count.value):
        found = []
        for attribute in (capability_major, capability_minor):
            value = ctypes.c_int(0)
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
            found.append(value.value)
        if found == [9, 0]:
            return True
    return False


if find_ptxas():
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", find_ptxas()))
if find_nvjitlink():
    config.available_features.add("nvjitlink")
    config.substitutions.append(("%nvjitlink", find_nvjitlink()))
if has_sm90():
    config.available_features.add("sm90")
if config.uattn_is_sanitized:
    config.available_features.add("sanitizer")
    suppressions = os.path.join(config.test_source_root, "leaks.supp")
    # The driver maps memory where the address sanitizer keeps its gap. An
    # allocation that cannot be had gives NULL, as without the sanitizer.
    config.environment["ASAN_OPTIONS"] = (
        "protect_shadow_gap=0:allocator_may_return_null=1"
    )
    config.environment["LSAN_OPTIONS"] = (
        "suppressions=" + suppressions + ":print_suppressions=0"
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
