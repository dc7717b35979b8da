// Functions without a body, such as linknamed ones, need an assembly file in
// their package.
