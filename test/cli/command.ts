/** The command, a project and a provider for the tests of a file, and all of it gone again behind each test. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { startProvider, startResponder, type Reply, type Responder, type TestProvider } from '../provider.ts';
import { bundleCommand, type Bundle } from './bundle.ts';
import { createPlace, start, type Outcome, type Place, type StartOptions } from './program.ts';

export type More = Partial<Omit<StartOptions, 'program' | 'place'>> & { readonly place?: Place };

export interface CommandForTests {
  /** File to be run by node. */
  program(): string;
  provide(...replies: readonly Reply[]): Promise<TestProvider>;
  /** Each reply is made from its request, the first of which has the number 1. */
  respond(respond: Responder): Promise<TestProvider>;
  project(files?: Readonly<Record<string, string>>): Place;
  cast(args: readonly string[], more?: More): Promise<Outcome>;
  /** Run behind the test, in reverse order. */
  later(run: () => unknown): void;
}

export const useCommand = (): CommandForTests => {
  let bundle: Bundle | undefined;
  const undo: (() => unknown)[] = [];
  beforeAll(async () => {
    bundle = await bundleCommand();
  }, 60_000);
  afterAll(() => bundle?.remove());
  afterEach(async () => {
    for (const run of undo.splice(0).reverse()) await run();
  });
  const program = (): string => {
    if (!bundle) throw new Error('the command is there once the tests run');
    return bundle.file;
  };
  const project = (files?: Readonly<Record<string, string>>): Place => {
    const place = createPlace(files);
    undo.push(place.remove);
    return place;
  };
  return {
    program,
    project,
    provide: async (...replies) => {
      const provider = await startProvider(...replies);
      undo.push(provider.close);
      return provider;
    },
    respond: async (respond) => {
      const provider = await startResponder(respond);
      undo.push(provider.close);
      return provider;
    },
    cast: (args, { place = project(), ...more } = {}) => start(args, { program: program(), place, ...more }).done,
    later: (run) => void undo.push(run),
  };
};
