/** `allium/receipts`: receipts on disk, and what can be asked of them. */

export type { ReceiptEnd } from './write/build-receipt.ts';
export { buildIntent, buildReceipt, createReceipt, hashValues } from './write/build-receipt.ts';
export type { Delivery, DeliveryRules, Sent } from './write/deliver-receipts.ts';
export { deliverReceipts } from './write/deliver-receipts.ts';
export type { LocalReceiptSinkOptions } from './write/local-receipt-sink.ts';
export { localReceiptSink } from './write/local-receipt-sink.ts';
export type { QueryOptions } from './read/search-receipts.ts';
export { queryReceipts } from './read/search-receipts.ts';
export type {
  Appended,
  Durability,
  LocalReceiptSink,
  Receipt,
  ReceiptDraft,
  ReceiptFields,
  ReceiptSink,
} from './receipt.ts';
export { RECEIPT_SCHEMA } from './receipt-schema.ts';
export type { ReceiptFilter } from './read/search-receipts.ts';
export type { StoredReceipt } from './read/stored-receipt.ts';
export type { TailOptions } from './read/tail-receipts.ts';
export { tailReceipts } from './read/tail-receipts.ts';
export type { ProblemKind, ReceiptProblem } from './read/problem-list.ts';
export type { TornTail } from './read/verify-chain.ts';
export type { Witness } from './read/verify-index.ts';
export type { VerifyOptions, VerifyProgress, VerifyReport } from './read/verify-receipts.ts';
export { verifyReceipts } from './read/verify-receipts.ts';
