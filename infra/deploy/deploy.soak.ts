/** Set-up that dies behind each of its changes, not a few of them. */
import './deploy.test.ts'
