mod canaries;
mod model;
mod prepared;
