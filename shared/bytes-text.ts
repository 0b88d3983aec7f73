/** For people: `4.1 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unit = ['bytes', 'kB', 'MB', 'GB', 'TB'][power]!
  return `${(bytes / 1000 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${unit}`
}
