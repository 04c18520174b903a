// unpack: the text of a compressed element of the page.

mallard.unpack = async (id) => {
  const holder = document.getElementById(id);
  const packed = Uint8Array.from(atob(holder.textContent.trim()), (character) => character.charCodeAt(0));
  holder.remove();
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
};
