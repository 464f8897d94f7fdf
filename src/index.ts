/** The public list. Every name is written out: what is not here is not promised. */

export * from './core/json.ts';
