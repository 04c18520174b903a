// Nothing can be loaded into a static program.
int main(void) { return 0; }
