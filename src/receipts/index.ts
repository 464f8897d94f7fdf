/** `allium/receipts`: receipts on disk, and what can be asked of them. */

export type { ReceiptEnd } from './create-receipt.ts';
export { createReceipt } from './create-receipt.ts';
export type { LocalReceiptSinkOptions } from './local-receipt-sink.ts';
export { localReceiptSink } from './local-receipt-sink.ts';
export type { QueryOptions } from './query-receipts.ts';
export { queryReceipts } from './query-receipts.ts';
export type { Appended, Durability, LocalReceiptSink, Receipt, ReceiptSink } from './receipt.ts';
export { RECEIPT_SCHEMA } from './receipt-schema.ts';
export type { ReceiptFilter } from './search-receipts.ts';
export type { StoredReceipt } from './stored-receipt.ts';
export type { TailOptions } from './tail-receipts.ts';
export { tailReceipts } from './tail-receipts.ts';
export type {
  ProblemKind,
  ReceiptProblem,
  TornTail,
  VerifyOptions,
  VerifyProgress,
  VerifyReport,
  Witness,
} from './verify-receipts.ts';
export { verifyReceipts } from './verify-receipts.ts';
export type { ReceiptFields } from './written-receipt.ts';
