/** Why a connection failed, in plain words, and whether it will fail in the same way again. */
import { type CastError, isCastError } from '../../../kernel/index.ts';

interface Cause {
  readonly pattern: RegExp;
  readonly says: string;
  readonly fix: string;
  /** Nothing changes by itself, so nobody has to wait for it. */
  readonly lasts?: true;
}
const CAUSES: readonly Cause[] = [
  { pattern: /ECONNREFUSED/, says: 'the connection was refused', fix: 'Check that the server is running and that the base URL is right.' },
  { pattern: /ENOTFOUND|EAI_AGAIN/, says: 'the host name is not known', fix: 'Check the base URL and the network connection.' },
  {
    pattern: /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ERR_TLS/,
    says: 'its certificate is not trusted',
    fix: 'Set NODE_EXTRA_CA_CERTS when it is signed by an authority of your own.',
    lasts: true,
  },
  {
    pattern: /wrong version number/,
    says: 'it does not speak TLS as expected',
    fix: 'Check whether its address begins with http:// instead of https://.',
    lasts: true,
  },
  { pattern: /ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT/, says: 'it does not answer', fix: 'Check the network connection and the proxy settings.' },
  { pattern: /ECONNRESET|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE/, says: 'the connection broke', fix: 'Try again.' },
];
const UNKNOWN: Cause = { pattern: /^/, says: 'the connection failed', fix: 'Check the network connection.' };

/** `detail`: the deepest cause in its own words, with its code. */
export const causeOf = (error: unknown): Cause & { readonly detail: string } => {
  const detail = describe(deepest(error));
  return { ...(CAUSES.find(({ pattern }) => pattern.test(detail)) ?? UNKNOWN), detail };
};

/** Of what a request threw: asking again would come to the same. */
export const isLasting = (error: unknown): boolean => causeOf(error).lasts === true;

/** What of the settings keeps requests from being sent at all, such as a proxy that cannot be used. */
export const misconfigured = (error: unknown): CastError | undefined => {
  const cause = deepest(error);
  return isCastError(cause) && cause.code === 'CONFIG_INVALID' ? cause : undefined;
};

const deepest = (error: unknown): unknown => {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at;
};

const describe = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause);
  const code = 'code' in cause && typeof cause.code === 'string' && !cause.message.includes(cause.code) ? `${cause.code}: ` : '';
  return `${code}${cause.message}`;
};
