// plotly: unpacks it, once, so that charts can use it.

mallard.load_plotly = async () => {
  const script = mallard.element("script");
  script.textContent = await mallard.unpack("plotly");
  document.head.append(script);
};
