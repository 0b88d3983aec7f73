/** A bare function of the framework. */
import { http } from '@google-cloud/functions-framework'
import { sendBytes } from './bytes.ts'

http('bare', sendBytes)
