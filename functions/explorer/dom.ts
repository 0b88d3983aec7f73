/** Elements. Text always becomes a text node, so nothing in a row is read as markup. */

export type Child = Node | string | null | undefined | false

export type Properties = Record<
  string,
  string | number | boolean | null | undefined | ((event: Event) => void)
>

/** @param properties attributes; `onclick` and the like are listeners; `true` is an attribute without a value */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...present(children))
  return element
}

/** @param press what a click does */
export function button(
  content: Child | Child[],
  press: () => void,
  properties: Properties = {},
): HTMLButtonElement {
  return el('button', { type: 'button', onclick: press, ...properties }, ...[content].flat())
}

export type Choices = readonly (readonly [value: string, text: string])[]

/** A menu. @param act called with the value that a person chooses */
export function menu(label: string, act: (value: string) => void) {
  const element = el('select', { 'aria-label': label, onchange: () => act(element.value) })
  const set = (choices: Choices, chosen: string) => {
    show(element, ...choices.map(([value, text]) => el('option', { value, title: text }, text)))
    element.value = chosen
  }
  return { element, set }
}

/** Gives a person the text as a file. */
export function download(name: string, text: string, type: string): void {
  const link = el('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

/** The children take the place of all that is there. */
export function show(place: Element, ...children: Child[]): void {
  place.replaceChildren(...present(children))
}

function present(children: Child[]): (Node | string)[] {
  return children.filter(child => child !== null && child !== undefined && child !== false)
}

let made = 0

/** An id, for attributes such as `aria-labelledby`. */
export function newId(): string {
  return `e${++made}`
}
