// Makes a component that rerenders only when one of its props changes.
import { Component, createElement, type ComponentClass, type FunctionComponent } from "preact";

export function memo<Props extends object>(view: FunctionComponent<Props>): ComponentClass<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return !isSame(this.props, next);
    }

    override render() {
      return createElement(view, this.props);
    }
  };
}

function isSame(before: object, after: object): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].every((name) => Reflect.get(before, name) === Reflect.get(after, name));
}
