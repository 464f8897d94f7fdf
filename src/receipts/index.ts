/** `allium/receipts`: receipts on disk, and what can be asked of them. */

export type { Appended, Durability, LocalReceiptSink, Receipt, ReceiptSink } from './receipt.ts';
