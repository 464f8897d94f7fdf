/** All families of tokens that can be told by their form. */

import { inner, shaped, token, type TokenFamily } from '../tokens.ts';
import { RUNS } from './bare-keys.ts';
import { PLATFORMS } from './platforms.ts';
import { SERVICES } from './services.ts';

/** Forms that many issuers share. */
const SHARED = [
  shaped('jwt', 'eyJ', /(?<![\w-])eyJ[\w-]{8,8000}\.[\w-]{8,8000}(?:\.[\w-]{0,8000}){1,3}/y),
  // `acme_live_…`, `acme_pat_…`: issuers that are not listed, by the words they all use.
  inner(
    'api-key',
    '_live_ _test_ _prod_ _pat_ _sk_ _secret_ _apikey_ _api_ _token_ _key_ -api-',
    ['base62', 2, 14],
    'base62',
    24,
    200,
    'strong',
  ),
  token(
    'api-key',
    'pat_ api_ apikey_ token_ tok_ secret_ key_ sk_ rk_ pk_ ak_ api- token- secret-',
    'base62',
    24,
    200,
    'strong',
  ),
];

export const FAMILIES: readonly TokenFamily[] = Object.freeze([
  ...PLATFORMS,
  ...SERVICES,
  ...SHARED,
]);

/** What is found by its place or its name, and not by its form. */
const PLACES = [
  'private-key',
  'password',
  'secret',
  'url-password',
  'authorization',
  'cookie',
  'password-hash',
];

/** Everything that a marker of `secrets` can say. */
export const LABELS: readonly string[] = Object.freeze([
  ...new Set([...FAMILIES, ...RUNS].map(({ label }) => label)),
  ...PLACES,
]);
