// subsystem_colour: the colour of a subsystem by its number, the same in every chart.

mallard.subsystem_colour = (theme) => (index) => theme.series[index % theme.series.length];
