// Prints the values of an RNTuple as JSROOT reads them: node with_jsroot.mjs node_modules file.root name
//
// The output is a JSON object of lists. Numbers are text that keeps all of their bits: "i" and decimal
// digits, or "f" and the bytes of a double.

import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [modules, path, name] = process.argv.slice(2);
const load = file => import(pathToFileURL(resolve(modules, 'jsroot/modules', file)));
const { openFile } = await load('io.mjs');
const { readHeaderFooter, rntupleProcess } = await load('rntuple.mjs');
const { TSelector } = await load('tree.mjs');

function plain(value) {
   if (value === null || value === undefined) return null;
   switch (typeof value) {
      case 'bigint': return `i${value}`;
      case 'boolean': case 'string': return value;
      case 'number': {
         const bytes = new DataView(new ArrayBuffer(8));
         bytes.setFloat64(0, value);
         return 'f' + bytes.getBigUint64(0).toString(16).padStart(16, '0');
      }
   }
   if (value instanceof Map)
      return Array.from(value, ([k, v]) => ({ _0: plain(k), _1: plain(v) }));
   if (Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Set)
      return Array.from(value, plain);
   const out = {};
   for (const key of Object.keys(value))
      if (key !== '_typename') out[{ first: '_0', second: '_1' }[key] ?? key] = plain(value[key]); // of pairs
   return out;
}

async function read(ntuple, field) {
   const values = [];
   const selector = new TSelector();
   selector.addBranch(field, 'value');
   selector.Process = function() { values.push(plain(this.tgtobj.value)); };
   await rntupleProcess(ntuple, selector);
   return values;
}

const log = console.log;
console.log = console.warn = console.error = () => {}; // JSROOT talks
const file = await openFile(path);
const ntuple = await file.readObject(name);
await readHeaderFooter(ntuple);
const out = {};
for (const f of ntuple.builder.fieldDescriptors) {
   if (ntuple.builder.fieldDescriptors[f.parentFieldId] !== f) continue;
   try {
      out[f.fieldName] = await read(ntuple, f.fieldName);
   } catch (error) { // one field that cannot be read does not hide the others
      out[f.fieldName] = `${error}`;
   }
}
log(JSON.stringify(out));
