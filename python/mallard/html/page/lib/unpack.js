// unpack: what the page holds compressed: the text of an element, and plotly.

mallard.unpack = async (id) => {
  const holder = document.getElementById(id);
  const packed = Uint8Array.from(atob(holder.textContent.trim()), (character) => character.charCodeAt(0));
  holder.remove();
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
};

// Once, so that charts can use it.
mallard.load_plotly = async () => {
  const script = mallard.element("script");
  script.textContent = await mallard.unpack("plotly");
  document.head.append(script);
};
