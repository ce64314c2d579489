"""`make fuzz`: runs each fuzzer for FUZZ_SECONDS (60) with libFuzzer; what it finds lies in build/fuzz/findings."""

import os
import shutil
import subprocess
import sys

import build

ROOT = build.ROOT


def main():
    if not shutil.which("clang"):
        sys.exit("fuzz: clang was not found (Debian: clang libclang-rt-dev)")
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    with build.lock():
        cmake = build.find_cmake(ROOT / ".venv")
        folder = build.configure(cmake, "fuzz")
        build.compile_targets(cmake, folder, "checks")
    findings = folder / "findings"
    findings.mkdir(exist_ok=True)
    failed = []
    for source in sorted((ROOT / "fuzz").glob("fuzz_*.c")):
        name = source.stem
        seeds = ROOT / "fuzz" / "corpus" / name.removeprefix("fuzz_")
        corpus = folder / "corpus" / name  # grows here, not in the tree
        corpus.mkdir(parents=True, exist_ok=True)
        print(f"== {name}, {seconds} s", flush=True)
        words = [folder / "fuzz" / name, f"-max_total_time={seconds}", f"-artifact_prefix={findings}/{name}-", corpus]
        words += [seeds] if seeds.is_dir() else []
        if subprocess.run([str(word) for word in [*words, "-print_final_stats=1", "-verbosity=0"]]).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"fuzz: findings of {', '.join(failed)} are in {findings.relative_to(ROOT)}")
    print("fuzz: no finding")


if __name__ == "__main__":
    main()
