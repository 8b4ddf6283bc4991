//! wasm-bindgen, as scripts/build.mjs calls it: `<module> <folder> <name>`.
use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = args.as_slice() else { panic!("expected three arguments, but found {args:?} instead") };
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .typescript(true)
        .web(true)
        // Without a default path: the loaders of js/ say where the module is, and bundlers need not guess. The function
        // that resets the state makes a new instance after a trap.
        .map(|bindgen| bindgen.omit_default_module_path(true).reset_state_function(true))
        .and_then(|bindgen| bindgen.generate(folder))
        .unwrap_or_else(|error| panic!("{error:?}"));
}
