// `node --import` this file: the path of every module that the process loads goes, as it is loaded, into the file that CAST_LOADS names.
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';

const file = process.env.CAST_LOADS;
const hooks = `
  import { appendFileSync } from 'node:fs';
  export const load = async (url, context, next) => {
    appendFileSync(${JSON.stringify(file)}, url + '\\n');
    return next(url, context);
  };
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const load = Module._load;
Module._load = function (request, parent, isMain) {
  appendFileSync(file, `${Module._resolveFilename(request, parent, isMain)}\n`);
  return load.call(this, request, parent, isMain);
};
