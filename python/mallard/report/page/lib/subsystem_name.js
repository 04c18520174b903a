// subsystem_name: the number and the name of a subsystem, no longer than there is room for.
//
// The name is short already, and what it says behind a function ("called by ...") tells it from others.

mallard.subsystem_name = ({ subsystems }, index, most = 200) => {
  const { name } = subsystems[index];
  return `${index + 1} ${name.length > most ? `${name.slice(0, most - 1)}…` : name}`;
};
