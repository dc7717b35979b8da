package main

func write(string) error { return nil }
