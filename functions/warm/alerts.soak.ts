/** 1,000 sets of an alert in one call. */
import './alerts.test.ts'
