# Puts the page's styles and scripts into the page, and the page into a C++ source.
#   cmake -DPAGE=…/page.html -DSOURCE=….cpp -P embed.cmake
# As numbers: no text can then look like the end of a literal, and no compiler finds it too long.
get_filename_component(folder "${PAGE}" DIRECTORY)
file(READ "${PAGE}" page)

# put_in(PATTERN ELEMENT): replaces each match of the pattern, whose first group is a file, by an element with its text.
macro(put_in pattern element)
  while(page MATCHES "${pattern}")
    set(reference "${CMAKE_MATCH_0}")
    file(READ "${folder}/${CMAKE_MATCH_1}" text)
    string(REPLACE "${reference}" "<${element}>\n${text}</${element}>" page "${page}")
  endwhile()
endmacro()
put_in([[<link rel="stylesheet" href="([^"]+)">]] style)
put_in([[<script src="([^"]+)"></script>]] script)

file(WRITE "${SOURCE}.html" "${page}")
file(READ "${SOURCE}.html" bytes HEX)
file(REMOVE "${SOURCE}.html")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${SOURCE}" "// Made from ${PAGE}.
#include \"timeline_page_text.hpp\"

namespace tool {
namespace {
constexpr unsigned char bytes[] = {${bytes}};
}
std::string_view timeline_page_text() noexcept { return {reinterpret_cast<const char*>(bytes), sizeof bytes}; }
}
")
