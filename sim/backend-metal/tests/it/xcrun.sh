#!/bin/sh
# As much of `xcrun -sdk macosx metal …` and `… metallib …` as the build script uses, with metal-sim's
# archive for a library. A source with an `#error` does not compile.
tool=$3
shift 3
if [ "$1" = --version ]; then
    exit 0
fi
case $tool in
metal)
    while [ "$1" != -c ]; do
        shift
    done
    if grep '#error' "$2" >&2; then
        exit 1
    fi
    cp "$2" "$4"
    ;;
metallib)
    library=$2
    shift 2
    echo 'metal-sim archive' >"$library"
    for object; do
        printf 'source %d %s\n' "$(wc -c <"$object")" "${object##*/}" >>"$library"
        cat "$object" >>"$library"
        echo >>"$library"
    done
    ;;
*)
    exit 1
    ;;
esac
