import { messageOf } from '../errors.ts';
import { runAs } from './running.ts';

/** Runs code of a plugin that is no tap (a section, a panel, a filter, a fold): owned like one, and a throw costs only `otherwise`. */
export const asPlugin = <T>(
  who: { readonly plugin: string; readonly where: string; readonly label: string },
  work: () => T,
  otherwise: (message: string) => T,
): T => {
  try {
    return runAs(who, work);
  } catch (error) {
    return otherwise(messageOf(error));
  }
};
