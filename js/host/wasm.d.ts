/** What workerd's bundler makes of an import of such a file. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
