/** The same bytes from `node:http` alone. */
import { createServer } from 'node:http'
import { sendBytes } from './bytes.ts'

createServer(sendBytes).listen(Number(process.env['PORT']), '127.0.0.1')
