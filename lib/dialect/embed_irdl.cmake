# Turns a text file into a C array, run as a script:
#   cmake -DINPUT=a.mlir -DOUTPUT=a.c -DNAME=symbol -P embed_irdl.cmake
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){16})" "\\1\n" lines "${bytes}")
get_filename_component(source "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "/* ${source}, zero-terminated; generated. */
extern const char ${NAME}[];
const char ${NAME}[] = {
${lines}0x00};
")
