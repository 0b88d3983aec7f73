/** Hundreds of random loads of each table. */
import './parquet.test.ts'
